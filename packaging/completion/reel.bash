# bash completion for reel(1): commands, subcommands, options and their values taken from the program's own --help;
# collections and recordings from the server of $REEL_URL.
_reel_names() { # PREFIX ARGUMENT…: those that `reel ls` prints, with what belongs behind each
    local prefix=$1 end=$2 name
    shift 2
    while IFS= read -r name; do
        [[ $name$end == "$prefix"* ]] && COMPREPLY+=("$(printf %q "$name$end")")
    done < <(timeout 3 "${COMP_WORDS[0]}" ls --quiet --limit 2000 "$@" 2>/dev/null)
}
_reel_server() { # whether the word is a name on the server
    local cur=$1 prev=$2
    [[ -n $REEL_URL ]] || return
    case ${COMP_WORDS[1]}:$prev in
    *:--collection | ls:*) _reel_names "$cur" '' ;;
    rm:* | tag:tag)
        if [[ $cur == */* ]]; then
            _reel_names "$cur" '' "${cur%%/*}"
        else
            _reel_names "$cur" /
            compopt -o nospace 2>/dev/null
        fi
        ;;
    esac
    ((${#COMPREPLY[@]}))
}
_reel() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} reel=${COMP_WORDS[0]} help choices
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$("$reel" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p') --help --version" -- "$cur")
        return
    fi
    help=$("$reel" "${COMP_WORDS[1]}" --help 2>/dev/null)
    if ((COMP_CWORD == 2)) && [[ $cur != -* ]]; then # "usage: reel token create | list | revoke NAME|ID …": the words in lower case
        choices=$(sed -n '1s/^usage: reel [a-z]* //p' <<<"$help" | grep -oE '(^|[ |])[a-z]+' | tr -d ' |')
        if [[ -n $choices ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$cur")
            return
        fi
    fi
    if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(sed -n 's/^  \(-., \)\{0,1\}\(--[a-z0-9-]*\).*/\2/p' <<<"$help")" -- "$cur")
        return
    fi
    if [[ $prev == --* ]]; then # "--log-format FORMAT    logfmt, json: format of …"
        choices=$(sed -n "s/^  $prev [A-Z][A-Z]*  *\([a-z0-9.-]*\(, [a-z0-9.-]*\)*\): .*/\1/p" <<<"$help")
        if [[ -n $choices ]]; then
            mapfile -t COMPREPLY < <(compgen -W "${choices//,/}" -- "$cur")
            return
        fi
    fi
    _reel_server "$cur" "$prev" && return
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}
complete -F _reel reel
