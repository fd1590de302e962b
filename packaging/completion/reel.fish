# fish completion for reel(1): commands and options taken from the program's own --help.
complete -c reel -n __fish_use_subcommand -f -a "(reel --help | string replace -rf '^  ([a-z]+) +(.*)' '\$1\t\$2')"
complete -c reel -n 'not __fish_use_subcommand' -a "(reel (commandline -opc)[2] --help | string replace -rf '^  (?:-., )?(--[a-z0-9-]+).*' '\$1')"
