# fish completion for reel(1): commands and options as the program's own --help tells them.
complete -c reel -n __fish_use_subcommand -f -a "(reel --help | string replace -rf '^  ([a-z]+) +(.*)' '\$1\t\$2')"
complete -c reel -n 'not __fish_use_subcommand' -a "(reel (commandline -opc)[2] --help | string replace -rf '^  (?:-., )?(--[a-z0-9-]+).*' '\$1')"
