# pieces.awk: what can be taken away from a C file, a place a line (tests/mutants/run tries each).
#
#   LINE <tab> START <tab> LENGTH <tab> WITH <tab> FUNCTION <tab> KIND <tab> TEXT
#
# LENGTH octets from START (0 is the first) are replaced by WITH. FUNCTION, KIND and TEXT tell it from all other pieces of the
# file: from the second one in a function that reads the same on, TEXT ends with "#2" and so on. KIND:
#   statement   a whole one inside a function; no declaration, no return of a value, break, or assert
#   true false  the condition of an if
#   part        an operand of && or ||, not in an assert: what it says does not count
#
# To be run with LC_ALL=C: positions are octets. The file is expected to be formatted by clang-format.

# Comments, strings and preprocessor lines become blanks, so that what is left can be read by its brackets.
function masked(text,    out, at, c, two, skip) {
    out = ""
    at = 1
    while (at <= length(text)) {
        c = substr(text, at, 1)
        two = substr(text, at, 2)
        if (two == "/*")
            skip = index(substr(text, at), "*/") + 1
        else if (two == "//" || (c == "#" && substr(out, length(out)) ~ /^\n?$/))
            skip = line_length(substr(text, at))
        else if (c == "\"" || c == "'")
            skip = quoted_length(substr(text, at), c)
        else
            skip = 0
        out = out (skip ? blank(substr(text, at, skip)) : c)
        at += skip ? skip : 1
    }
    return out
}

function blank(text) {
    gsub(/[^\n]/, " ", text)
    return text
}

# Up to the line's end that no backslash precedes.
function line_length(text,    at, next_end) {
    at = 0
    do {
        next_end = index(substr(text, at + 1), "\n")
        at += next_end
    } while (next_end && substr(text, at - 1, 1) == "\\")
    return at - 1
}

function quoted_length(text, quote,    at) {
    for (at = 2; substr(text, at, 1) != quote; at++)
        if (substr(text, at, 1) == "\\")
            at++
    return at
}

# The bracket that closes the one at `at`.
function closing(at,    depth, c) {
    for (depth = 0; at <= size; at++) {
        c = char[at]
        if (c ~ /[({[]/)
            depth++
        else if (c ~ /[]})]/ && --depth == 0)
            return at
    }
    return size
}

function skip_blanks(at) {
    while (at <= size && char[at] ~ /[ \t\n]/)
        at++
    return at
}

function word_at(at,    word) {
    for (word = ""; char[at] ~ /[A-Za-z0-9_]/; at++)
        word = word char[at]
    return word
}

# The semicolon that ends the statement.
function statement_end(at) {
    while (at < size && char[at] != ";")
        at = (char[at] ~ /[({[]/ ? closing(at) : at) + 1
    return at
}

function print_place(start, end, with, kind, shown_from, shown_to,    text, lines) {
    text = substr(source, shown_from, shown_to - shown_from + 1)
    gsub(/[ \t\n]+/, " ", text)
    # Lines keep their numbers.
    lines = substr(source, start, end - start + 1)
    lines = gsub(/\n/, "", lines)
    while (lines-- > 0)
        with = with "\\n"
    if (++same[in_function, kind, text] > 1)
        text = text " #" same[in_function, kind, text]
    printf "%d\t%d\t%d\t%s\t%s\t%s\t%s\n", line[start], start - 1, end - start + 1, with, in_function, kind, text
}

function is_statement(text) {
    return text !~ /^(return[^A-Za-z0-9_;]|break;|assert\(|_Static_assert|\(void\)|;)/ &&
           text !~ /^[A-Za-z_][A-Za-z0-9_]*[ \n]+\**[A-Za-z_]/ # a declaration
}

# The operand of && or || that ends before, or begins after, the operator at `at`.
function operand_start(at,    c) {
    for (at--; at > 0; at--) {
        c = char[at]
        if (c ~ /[])}]/)
            at = opening[at]
        else if (ends_operand(at))
            break
    }
    return skip_blanks(at + 1)
}

function operand_end(at,    c) {
    for (; at <= size; at++) {
        c = char[at]
        if (c ~ /[({[]/)
            at = closing(at)
        else if (ends_operand(at))
            break
    }
    for (at--; char[at] ~ /[ \n]/; at--)
        ;
    return at
}

function ends_operand(at,    c, two) {
    c = char[at]
    two = c char[at + 1]
    if (two == "&&" || two == "||" || (two ~ /^[&|]/ && char[at - 1] == c))
        return 1
    if (c == "=")
        return two != "==" && char[at - 1] !~ /[=!<>]/
    if (c == "n" && char[at + 1] ~ /[ (]/ && at > 5)
        return substr(mask, at - 5, 6) == "return" && char[at - 6] !~ /[A-Za-z0-9_]/
    return c ~ /[(){},;?:[]/ || c == "]"
}

function print_parts(from, to,    at, operator, with, done, start, end) {
    for (at = from; at < to; at++) {
        if (at in asserted)
            at = asserted[at]
        operator = char[at] char[at + 1]
        if (operator != "&&" && operator != "||")
            continue
        with = operator == "&&" ? "1" : "0"
        start = operand_start(at)
        end = operand_end(start)
        if (!(start in done))
            print_place(start, end, with, "part", start, end)
        done[start] = 1
        start = skip_blanks(at + 2)
        print_place(start, operand_end(start), with, "part", start, operand_end(start))
        done[start] = 1
        at++
    }
}

function print_if(at,    from, to) {
    from = skip_blanks(at + 2)
    to = closing(from)
    print_place(from + 1, to - 1, "1", "true", at, to)
    print_place(from + 1, to - 1, "0", "false", at, to)
    return to + 1
}

# The function whose parameters end at `at`.
function name_before(at,    from) {
    at = opening[at]
    for (from = at; char[from - 1] ~ /[A-Za-z0-9_]/; from--)
        ;
    return substr(mask, from, at - from)
}

# A function's body, from its first bracket to its last.
function print_function(from, to,    at, word, end, text) {
    at = from
    while (at <= to) {
        at = skip_blanks(at)
        word = word_at(at)
        if (char[at] ~ /[{}]/)
            at++
        else if (word == "if")
            at = print_if(at)
        else if (word == "while" || word == "for" || word == "switch")
            at = closing(skip_blanks(at + length(word))) + 1
        else if (word == "else" || word == "do")
            at += length(word)
        else if (word == "case" || word == "default") {
            while (char[at] != ":")
                at++
            at++
        } else {
            end = statement_end(at)
            text = substr(mask, at, end - at + 1)
            if (is_statement(text))
                print_place(at, end, ";", "statement", at, end)
            if (text ~ /^assert\(/)
                asserted[at] = end
            at = end + 1
        }
    }
    print_parts(from, to)
}

{ source = source $0 "\n" }

END {
    mask = masked(source)
    size = length(mask)
    number = 1
    depth = 0
    for (i = 1; i <= size; i++) {
        char[i] = substr(mask, i, 1)
        line[i] = number
        if (char[i] == "\n")
            number++
        else if (char[i] ~ /[({[]/)
            stack[depth++] = i
        else if (char[i] ~ /[]})]/)
            opening[i] = stack[--depth]
        if (char[i] !~ /[ \n]/) {
            after[i] = last
            last = i
        }
    }
    for (i = 1; i <= size; i++) {
        if (char[i] == "{") {
            if (char[after[i]] == ")") {
                in_function = name_before(after[i])
                print_function(i, closing(i))
            }
            i = closing(i)
        }
    }
}
