# capture.zsh DIR LINE: what zsh's completion with the functions of DIR offers for LINE, a word a line.
# A shell on a pseudo-terminal gets LINE and a TAB; its compadd prints the matches instead of keeping them.
zmodload zsh/zpty
fpath=($1 $fpath)
zpty z zsh -f -i
zpty -w z "PROMPT= RPROMPT= fpath=(${(q)1} \$fpath)"
zpty -w z 'autoload -Uz compinit && compinit -u -D; zstyle ":completion:*" list-rows-first yes'
zpty -w z 'compadd() {
    local -a matches
    local suffix= i
    for ((i = 1; i < $#; i++)); do [[ $argv[i] == -O || $argv[i] == -A || $argv[i] == -D ]] && { builtin compadd "$@"; return; }; done
    builtin compadd -O matches "$@"
    (($#matches)) || return 1
    print -rl -- "" "@@"$^matches >>$CAPTURE
    builtin compadd "$@"
}'
capture=$(mktemp)
# Ready is when the line editor reads: the terminal itself would take what comes earlier, and C-u would erase it there.
zpty -w z "CAPTURE=$capture; zle-line-init() print rea''dy; zle -N zle-line-init"
zpty -r z line '*ready*'
zpty -w -n z "$2"$'\t'
zpty -w -n z $'\C-u'
zpty -w z "print do''ne"
zpty -r z line '*done*'
sed -n 's/^@@//p' $capture
rm -f $capture
zpty -d z
