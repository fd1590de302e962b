# fish completion for reel(1): commands, subcommands, options and their values taken from the program's own --help.
function __reel_help
    reel (commandline -opc)[2] --help
end
function __reel_values
    set -l last (commandline -opc)[-1]
    __reel_help | string replace -rf "^  (?:-., )?$last [A-Z]+ +([a-z0-9.-]+(?:, [a-z0-9.-]+)*): .*" '$1' | string split ', '
end
function __reel_subcommands
    test (count (commandline -opc)) -eq 2; and __reel_help | head -n 1 | string replace -r '^usage: reel [a-z]+ ' '' | string match -ar '(?<=^|[ |])[a-z]+'
end
complete -c reel -n __fish_use_subcommand -f -a "(reel --help | string replace -rf '^  ([a-z]+) +(.*)' '\$1\t\$2')"
complete -c reel -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -ct)' -f -a "(__reel_help | string replace -rf '^  (?:-., )?(--[a-z0-9-]+).*' '\$1')"
complete -c reel -n 'count (__reel_values) (__reel_subcommands) >/dev/null' -f -a '(__reel_values) (__reel_subcommands)'
