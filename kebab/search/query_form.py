"""Recognizes the form of a query: a question, or a command line."""

import re
from itertools import pairwise

_QUESTION_WORDS_BY_LANGUAGE = {
    "English": "how what when where which who whom whose why",
    "German": "wie warum wieso was welche welcher welches welchen wer wem wen wann wo woher wohin",
    "French": "quel quelle quels quelles qui quand combien pourquoi comment o\u00f9",
    "Spanish": (
        "qu\u00e9 cu\u00e1l cu\u00e1les cu\u00e1ndo d\u00f3nde qui\u00e9n qui\u00e9nes c\u00f3mo"
        " cu\u00e1nto cu\u00e1ntos cu\u00e1nta cu\u00e1ntas"
    ),
    "Italian, Portuguese": (
        "chi quale quali quando dove perch\u00e9 quanto quanti onde quem qual quais como"
    ),
    "Russian": "что кто где когда как почему какой какая какое какие сколько",
    "Turkish": "ne nedir nerede nas\u0131l neden hangi ka\u00e7",
}
_QUESTION_WORDS = frozenset(
    word for words in _QUESTION_WORDS_BY_LANGUAGE.values() for word in words.split()
)
_EARLY = 3
"""A question word is among the first words; a later one may open a clause of a topic."""

_QUESTION_FORMS = (
    "[?\uff1f\u061f]\\s*$"
    "|何|誰|どこ|いつ|なぜ|どの|どう|どん|か[\u3002\uff0e]?\\s*$"
    "|무엇|누가|누구|언제|어디|어떻게|왜\\s|얼마|몇\\s|나요|까요|니까"
    "|什么|什麼|哪|谁|多少|怎么|怎麼|为什|為什|吗\\s*$"
)
"""A question mark at the end, or a question word of Japanese, Korean or Chinese."""


def is_question(text: str) -> bool:
    """Return whether a text asks, by its first words, a question mark or a question ending."""
    early = text.lower().split(maxsplit=_EARLY)[:_EARLY]
    if not _QUESTION_WORDS.isdisjoint(early):
        return True
    return text.rstrip().endswith("?") or (not text.isascii() and _has_question_form(text))


def _has_question_form(text: str) -> bool:
    return re.search(_QUESTION_FORMS, text) is not None


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_AUXILIARIES = _split_words(
    "am are can could did do does had has have is may must should was were will would"
)


def reads_as_question(text: str) -> bool:
    """Return whether a text asks; the first word may also be a verb, as in `can I use git -C`."""
    first = text.lower().split(maxsplit=1)[:1]
    return is_question(text) or not _AUXILIARIES.isdisjoint(first)


_COMMANDS = _split_words(
    "ansible apk apt apt-get aptitude awk aws az bash bzip2 cd chgrp chmod"
    " chown chroot clang cmake conda cp cron crontab curl dd deno df dmesg dnf docker"
    " docker-compose dotnet dpkg du etcdctl ffmpeg ffprobe fzf g++ gcc gcloud gdb gh git gpg grep"
    " gunzip gzip htop ifconfig ip iptables istioctl javac journalctl jq k9s kubeadm kubectl"
    " ld ldd ln ls lsblk lsof minikube mkdir mongosh mv mvn mysql nc netcat netstat nginx nmap"
    " npm npx nslookup openssl pacman passwd perl pgrep pip pip3 pipx pkill pnpm podman"
    " poetry printf ps psql pytest python3 rclone redis-cli rg rm rmdir rpm rsync rustc rustup scp"
    " sed sftp sh smbclient sqlite3 ssh ssh-keygen strace sudo su svn systemctl tar tcpdump"
    " telnet terraform tmux tr traceroute ufw umount uname unzip useradd uv vim wc wget xargs xz"
    " youtube-dl yt-dlp yum zip zsh zypper"
)
"""Programs whose names are no everyday words."""

_SUBCOMMANDS = _split_words(
    "add apply attach build checkout clone commit compose config create delete describe destroy"
    " diff edit enable exec export get import init install list log login logs merge new plan ps"
    " pull push rebase remove req reset restart run s3 show start stash status stop switch test"
    " top uninstall update upgrade x509"
)
_LONG_OPTION_PROGRAMS = _split_words(
    "clang cmake ffmpeg ffprobe g++ gcc javac ld openssl terraform youtube-dl"
)
"""Programs whose options are words behind one minus, anywhere in the line."""

_EVERYDAY_COMMANDS = _split_words(
    "brew bun bundle cargo cat composer cut date dig echo find go head helm java join kill less"
    " make more mount nano node patch ping python ruby screen sort split tail test time top touch"
    " tree watch which yarn"
)
"""Programs whose names are words of other topics: `python -snake` is no command line."""

_LONG_OPTIONS = _split_words(
    "-atime -classpath -cp -ctime -delete -depth -empty -exec -follow -group -help -iname -inum"
    " -ipath -iregex -jar -links -maxdepth -mindepth -mmin -mtime -name -newer -not -path -perm"
    " -print -print0 -prune -regex -run -server -size -type -user -version"
)
"""Options of these programs that are written as words."""

_PREFIXES = _split_words("$ % > sudo run use using try type execute doas env nohup time xargs")
"""Words before the name of a program."""

_SHELL = _split_words("| || && ; >> 2>&1 2> . ..")
_OPTION_NAMES = _split_words(
    "flag flags option options switch switches argument arguments parameter parameters"
    " \uc635\uc158 \ud50c\ub798\uadf8 \u30aa\u30d7\u30b7\u30e7\u30f3"
    " \u30d5\u30e9\u30b0 \u9009\u9879 \u9078\u9805 \u53c2\u6570 \u53c3\u6578"
)
_is_option = re.compile(r"--[^\W_]\S*|-[A-Za-z]{1,2}\d*|-[A-Za-z][^\s=]*=\S*").fullmatch
"""`--all`, `-p`, `-it`, `-p22`, `-o=x`: never meant as exclusions."""


def is_command_line(text: str) -> bool:
    """Return whether a text is a command line, or names an option of one."""
    words = text.lower().split()
    if any(map(_is_option, words)) or not _SHELL.isdisjoint(words):
        return True
    if any(_names_option(*pair) or _names_option(*pair[::-1]) for pair in pairwise(words)):
        return True
    start = next((at for at, word in enumerate(words) if not _is_prefix(word)), len(words))
    program, following = (*words[start : start + 2], "", "")[:2]
    if program in _EVERYDAY_COMMANDS:
        return not _LONG_OPTIONS.isdisjoint(words)
    if program in _LONG_OPTION_PROGRAMS or program.startswith(("./", "../", "~/")):
        return True
    return program in _COMMANDS and (following[:1] == "-" or following in _SUBCOMMANDS)


def _is_prefix(word: str) -> bool:
    """Return whether a word stands before the name of a program: `sudo`, or a variable."""
    return word in _PREFIXES or "=" in word


def _names_option(word: str, beside: str) -> bool:
    return word[0] == "-" and beside in _OPTION_NAMES
