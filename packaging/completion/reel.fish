# fish completion for reel(1): commands, subcommands, options and their values taken from the program's own --help;
# collections and recordings from the server of $REEL_URL.
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
function __reel_server
    set -l words (commandline -opc)
    test -n "$REEL_URL"; and test (count $words) -gt 1; or return
    if test "$words[-1]" = --collection -o "$words[2]" = ls
        timeout 3 reel ls --quiet --limit 2000 2>/dev/null
    else if test "$words[2]" = rm -o "$words[-1]" = tag
        set -l collection (string match -r '^[^/]+(?=/)' -- (commandline -ct))
        if test -n "$collection"
            timeout 3 reel ls --quiet --limit 2000 $collection 2>/dev/null
        else
            timeout 3 reel ls --quiet --limit 2000 2>/dev/null | string replace -r '$' /
        end
    end
end
complete -c reel -n __fish_use_subcommand -f -a "(reel --help | string replace -rf '^  ([a-z]+) +(.*)' '\$1\t\$2')"
complete -c reel -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -ct)' -f -a "(__reel_help | string replace -rf '^  (?:-., )?(--[a-z0-9-]+).*' '\$1')"
complete -c reel -n 'count (__reel_values) (__reel_subcommands) >/dev/null' -f -a '(__reel_values) (__reel_subcommands)'
complete -c reel -n 'not string match -q -- "-*" (commandline -ct); and count (__reel_server) >/dev/null' -f -a '(__reel_server)'
