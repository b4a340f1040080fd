//! Translation of Python's regular expressions for the underlying engine.
//!
//! Parses a pattern token by token like Python 3.11's `re`, rejects what it rejects, and writes an
//! equivalent expression for `fancy_regex`. All flags except case folding are resolved here. Every
//! character other than an ASCII letter or digit is written as a numeric escape. Groups keep their
//! numbers and lose their names.

use std::collections::HashMap;
use std::fmt::Write;

use super::PatternError;

/// Maximum nesting depth of groups, slightly below the limit of the engine.
const MAX_NESTING: usize = 50;
/// Python's limit for `{n}`.
const MAX_REPEAT: u64 = u32::MAX as u64;
/// Expression for a surrogate. It never matches, because strings contain no surrogates.
const NO_CHARACTER: &str = r"[^\s\S]";

/// Pattern in the syntax of the engine.
#[derive(Debug)]
pub(super) struct Translation {
    body: String,
    ignore_case: bool,
    /// Number of groups, not counting the whole match.
    pub(super) groups: usize,
    pub(super) names: HashMap<String, usize>,
}

impl Translation {
    /// Returns the expression.
    pub(super) fn whole(&self) -> String {
        format!("{}{}", self.prefix(), self.body)
    }

    /// Returns the expression, except for an empty match at the start of the search.
    pub(super) fn advancing(&self) -> String {
        format!("{}(?:{})(?!\\G)", self.prefix(), self.body)
    }

    fn prefix(&self) -> &'static str {
        if self.ignore_case { "(?i)" } else { "" }
    }
}

/// Translates `text`.
pub(super) fn translate(text: &str) -> Result<Translation, PatternError> {
    let mut reader = Reader {
        text,
        at: 0,
        global: Flags::default(),
        groups: vec![None],
        names: HashMap::new(),
        behind: None,
        conditions: Vec::new(),
        nesting: 0,
    };
    let whole = reader.alternation(Flags::default())?;
    if reader.at < text.len() {
        return Err(reader.error_here("unbalanced parenthesis"));
    }
    let groups = reader.groups.len() - 1;
    if let Some((group, at)) = reader.conditions.iter().find(|(group, _)| *group > groups) {
        return Err(error(*at, format!("unknown group {group}")));
    }
    let ignore_case = reader.global.ignore_case;
    Ok(Translation {
        body: whole.text,
        ignore_case,
        groups,
        names: reader.names,
    })
}

/// Implements Python's `str.isidentifier`, except for a few rare characters.
pub(super) fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters
        .next()
        .is_some_and(|character| character.is_alphabetic() || character == '_')
        && characters.all(|character| character.is_alphanumeric() || character == '_')
}

/// Parses a non-negative number like Python's `int`.
pub(super) fn python_index(text: &str) -> Option<usize> {
    let text = text.trim();
    let negative = text.starts_with('-');
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sound = digits
        .split('_')
        .all(|group| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit()));
    if !sound {
        return None;
    }
    let number = digits.replace('_', "").parse().unwrap_or(usize::MAX);
    (!negative || number == 0).then_some(number)
}

/// Flags in effect at some position.
#[derive(Clone, Copy, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "Python's flags are independent switches"
)]
struct Flags {
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
    verbose: bool,
    ascii: bool,
}

impl Flags {
    /// Returns whether `i` also matches `İ` and `ı`: Python treats them as cases of one letter, the
    /// engine does not.
    fn folds_turkish_i(self) -> bool {
        self.ignore_case && !self.ascii
    }
}

/// `I`, `i`, `İ` and `ı`.
const TURKISH_I: [u32; 4] = [0x49, 0x69, 0x130, 0x131];
/// [`TURKISH_I`] as members of a class.
const TURKISH_I_CLASS: &str = r"Ii\x{130}\x{131}";

/// Minimum and maximum number of characters matched.
#[derive(Clone, Copy)]
struct Width {
    least: u64,
    most: u64,
}

impl Width {
    const NONE: Self = Self { least: 0, most: 0 };
    const ONE: Self = Self { least: 1, most: 1 };

    fn then(self, next: Self) -> Self {
        let most = self.most.saturating_add(next.most);
        Self {
            least: self.least.saturating_add(next.least),
            most,
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }

    fn repeated(self, least: u64, most: Option<u64>) -> Self {
        let times = most.unwrap_or(u64::MAX);
        let most = self.most.saturating_mul(times);
        Self {
            least: self.least.saturating_mul(least),
            most,
        }
    }
}

/// Translated part of a pattern.
struct Piece {
    text: String,
    width: Width,
    kind: Kind,
}

/// Whether a quantifier may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Can be repeated.
    Item,
    /// `^`, `\b` and the like, which cannot be repeated.
    Place,
    /// Already repeated.
    Repeated,
}

impl Piece {
    fn item(text: impl Into<String>, width: Width) -> Self {
        Self {
            text: text.into(),
            width,
            kind: Kind::Item,
        }
    }

    fn place(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            width: Width::NONE,
            kind: Kind::Place,
        }
    }
}

/// Character, with or without a backslash before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Plain(char),
    Escaped(char),
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// Flags of `(?i)` and the like at the start of the pattern.
    global: Flags,
    /// Width of each group; `None` while it is open. The first is the whole match.
    groups: Vec<Option<Width>>,
    names: HashMap<String, usize>,
    /// In a look-behind: the number of groups before it.
    behind: Option<usize>,
    /// Groups used by `(?(n)...)`, which may be defined later, with their offsets.
    conditions: Vec<(usize, usize)>,
    nesting: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Result<Option<Token>, PatternError> {
        let mut characters = self.text[self.at..].chars();
        match characters.next() {
            None => Ok(None),
            Some('\\') => match characters.next() {
                Some(character) => Ok(Some(Token::Escaped(character))),
                None => Err(self.error_here("trailing backslash")),
            },
            Some(character) => Ok(Some(Token::Plain(character))),
        }
    }

    fn next(&mut self) -> Result<Option<Token>, PatternError> {
        let token = self.peek()?;
        self.at += match token {
            None => 0,
            Some(Token::Plain(character)) => character.len_utf8(),
            Some(Token::Escaped(character)) => 1 + character.len_utf8(),
        };
        Ok(token)
    }

    fn peek_is(&self, character: char) -> Result<bool, PatternError> {
        Ok(self.peek()? == Some(Token::Plain(character)))
    }

    fn take(&mut self, character: char) -> Result<bool, PatternError> {
        let is = self.peek_is(character)?;
        if is {
            self.at += character.len_utf8();
        }
        Ok(is)
    }

    /// Reads up to `most` characters that `is` accepts.
    fn take_while(&mut self, most: usize, is: impl Fn(u8) -> bool) -> &str {
        let rest = &self.text[self.at..];
        let length = rest.bytes().take(most).take_while(|byte| is(*byte)).count();
        self.at += length;
        &rest[..length]
    }

    /// Reads the text up to `end`, and `end` itself.
    fn take_until(&mut self, end: char, what: &str) -> Result<String, PatternError> {
        let start = self.at;
        loop {
            let before = self.at;
            match self.next()? {
                None => return Err(error(start, format!("missing `{end}` after {what}"))),
                Some(token) if token == Token::Plain(end) => {
                    if before == start {
                        return Err(error(start, format!("missing {what}")));
                    }
                    return Ok(self.text[start..before].to_owned());
                }
                Some(_) => {}
            }
        }
    }

    fn error_here(&self, message: impl Into<String>) -> PatternError {
        error(self.at, message)
    }

    /// Parses `a|b|c`, up to a parenthesis or the end.
    fn alternation(&mut self, flags: Flags) -> Result<Piece, PatternError> {
        let mut flags = flags;
        let outermost = self.nesting == 0;
        let mut whole = self.sequence(flags, outermost)?;
        while self.take('|')? {
            if outermost {
                flags = self.global;
            }
            let branch = self.sequence(flags, false)?;
            whole.text.push('|');
            whole.text.push_str(&branch.text);
            whole.width = whole.width.or(branch.width);
        }
        Ok(whole)
    }

    /// Parses an alternative. Only the `first` one may begin with global flags.
    fn sequence(&mut self, flags: Flags, first: bool) -> Result<Piece, PatternError> {
        let mut flags = flags;
        let mut pieces: Vec<Piece> = Vec::new();
        while let Some(token) = self.peek()? {
            if matches!(token, Token::Plain('|' | ')')) {
                break;
            }
            let at = self.at;
            self.next()?;
            if flags.verbose && self.skips(token)? {
                continue;
            }
            match token {
                Token::Escaped(character) => pieces.push(self.escape(character, at, flags)?),
                Token::Plain('[') => pieces.push(self.class(at, flags)?),
                Token::Plain('(') => match self.group(at, flags)? {
                    Group::Piece(piece) => pieces.push(piece),
                    Group::Nothing => {}
                    Group::Flags if first && pieces.is_empty() => flags = self.global,
                    Group::Flags => {
                        return Err(error(at, "global flags not at the start of the pattern"));
                    }
                },
                Token::Plain('.') => {
                    let any = if flags.dot_all { "(?s:.)" } else { r"[^\n]" };
                    pieces.push(Piece::item(any, Width::ONE));
                }
                Token::Plain('^') => {
                    pieces.push(Piece::place(if flags.multi_line {
                        "(?m:^)"
                    } else {
                        r"\A"
                    }));
                }
                // Python's `$` also matches before a line break at the end.
                Token::Plain('$') => {
                    let end = if flags.multi_line {
                        "(?m:$)"
                    } else {
                        r"(?=\n?\z)"
                    };
                    pieces.push(Piece::place(end));
                }
                Token::Plain(character @ ('*' | '+' | '?' | '{')) => {
                    match self.quantifier(character)? {
                        Some((least, most)) => self.repeat(&mut pieces, least, most, at)?,
                        None => pieces.push(literal(u32::from(character), flags)),
                    }
                }
                Token::Plain(character) => pieces.push(literal(u32::from(character), flags)),
            }
        }
        let width = pieces
            .iter()
            .fold(Width::NONE, |width, piece| width.then(piece.width));
        let text = pieces.iter().map(|piece| piece.text.as_str()).collect();
        Ok(Piece {
            text,
            width,
            kind: Kind::Item,
        })
    }

    /// Skips white space and comments in verbose patterns.
    fn skips(&mut self, token: Token) -> Result<bool, PatternError> {
        match token {
            Token::Plain(' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}') => Ok(true),
            Token::Plain('#') => {
                while !matches!(self.next()?, None | Some(Token::Plain('\n'))) {}
                Ok(true)
            }
            Token::Plain(_) | Token::Escaped(_) => Ok(false),
        }
    }

    /// Parses the bounds of a quantifier after its first character. Returns `None` for a literal
    /// brace.
    fn quantifier(&mut self, first: char) -> Result<Option<(u64, Option<u64>)>, PatternError> {
        match first {
            '*' => return Ok(Some((0, None))),
            '+' => return Ok(Some((1, None))),
            '?' => return Ok(Some((0, Some(1)))),
            _ => {}
        }
        let here = self.at;
        if self.peek_is('}')? {
            return Ok(None);
        }
        let least = self
            .take_while(usize::MAX, |byte| byte.is_ascii_digit())
            .to_owned();
        let most = if self.take(',')? {
            self.take_while(usize::MAX, |byte| byte.is_ascii_digit())
                .to_owned()
        } else {
            least.clone()
        };
        if !self.take('}')? {
            self.at = here;
            return Ok(None);
        }
        let bound = |digits: &str| match digits {
            "" => Ok(None),
            _ => match digits.parse::<u64>() {
                Ok(number) if number < MAX_REPEAT => Ok(Some(number)),
                _ => Err(error(here, "repeat count too large")),
            },
        };
        let least = bound(&least)?.unwrap_or(0);
        let most = bound(&most)?;
        if most.is_some_and(|most| most < least) {
            return Err(error(here, "minimum repeat count greater than the maximum"));
        }
        Ok(Some((least, most)))
    }

    fn repeat(
        &mut self,
        pieces: &mut Vec<Piece>,
        least: u64,
        most: Option<u64>,
        at: usize,
    ) -> Result<(), PatternError> {
        let piece = match pieces.pop() {
            None
            | Some(Piece {
                kind: Kind::Place, ..
            }) => {
                return Err(error(at, "nothing to repeat"));
            }
            Some(Piece {
                kind: Kind::Repeated,
                ..
            }) => {
                return Err(error(at, "multiple repeat"));
            }
            Some(piece) => piece,
        };
        let Piece { text, width, .. } = piece;
        let style = if self.take('?')? {
            Style::Lazy
        } else if self.take('+')? {
            Style::Possessive
        } else {
            Style::Greedy
        };
        let text = if width.most == 0 || most == Some(0) {
            repeat_nothing(&text, least, most, style)
        } else {
            repeat_something(&text, least, most, style)
        };
        pieces.push(Piece {
            text,
            width: width.repeated(least, most),
            kind: Kind::Repeated,
        });
        Ok(())
    }

    /// Parses an escape outside of classes, whose backslash is at `at`.
    fn escape(&mut self, character: char, at: usize, flags: Flags) -> Result<Piece, PatternError> {
        let piece = match character {
            'A' => Piece::place(r"\A"),
            'Z' => Piece::place(r"\z"),
            'b' => Piece::place(boundary(flags)),
            'B' => Piece::place(not_boundary(flags)),
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => {
                // The engine would let `ſ` match as an `s` in it.
                let open = if flags.ignore_case { "(?-i:[" } else { "(?:[" };
                Piece::item(
                    format!("{open}{}])", category(character, flags)),
                    Width::ONE,
                )
            }
            '0' => {
                let digits = self.take_while(2, is_octal);
                let code = u32::from_str_radix(digits, 8).unwrap_or(0);
                literal(code, flags)
            }
            '1'..='9' => self.number(character, at, flags)?,
            _ => literal(self.escaped_code(character, at)?, flags),
        };
        Ok(piece)
    }

    /// Parses a back-reference, or a character given by three octal digits.
    fn number(&mut self, first: char, at: usize, flags: Flags) -> Result<Piece, PatternError> {
        let rest = &self.text[at + 1..];
        let octal = rest
            .bytes()
            .take(3)
            .take_while(|byte| is_octal(*byte))
            .count();
        if octal == 3 {
            self.at = at + 4;
            return octal_code(&rest[..3], at).map(|code| literal(code, flags));
        }
        let more = self.take_while(1, |byte| byte.is_ascii_digit());
        let group = format!("{first}{more}")
            .parse()
            .expect("one or two digits are a number");
        if group >= self.groups.len() {
            return Err(error(at, format!("unknown group {group}")));
        }
        self.reference(group, at)
    }

    fn reference(&self, group: usize, at: usize) -> Result<Piece, PatternError> {
        let Some(width) = self.groups[group] else {
            return Err(error(at, "reference to an open group"));
        };
        self.check_behind(group, at)?;
        Ok(Piece::item(format!(r"(?:\{group})"), width))
    }

    fn check_behind(&self, group: usize, at: usize) -> Result<(), PatternError> {
        let Some(before) = self.behind else {
            return Ok(());
        };
        if self.groups.get(group).copied().flatten().is_none() {
            return Err(error(at, "reference to an open group"));
        }
        if group >= before {
            return Err(error(at, "reference to a group of the same look-behind"));
        }
        Ok(())
    }

    /// Parses the escape of a character, inside or outside of classes.
    fn escaped_code(&mut self, character: char, at: usize) -> Result<u32, PatternError> {
        let code = match character {
            'a' => 0x07,
            'f' => 0x0C,
            'n' => 0x0A,
            'r' => 0x0D,
            't' => 0x09,
            'v' => 0x0B,
            'x' => self.hexadecimal(2, at)?,
            'u' => self.hexadecimal(4, at)?,
            'U' => match self.hexadecimal(8, at)? {
                code @ 0..=0x10_FFFF => code,
                _ => return Err(error(at, r"`\U` escape beyond U+10FFFF")),
            },
            'N' => self.code_of_name(at)?,
            _ if character.is_ascii_alphabetic() => {
                return Err(error(at, format!(r"unknown escape `\{character}`")));
            }
            _ => u32::from(character),
        };
        Ok(code)
    }

    /// Parses the `{NAME}` of `\N{NAME}`. Python may know more names: aliases, and those of later
    /// versions of Unicode.
    fn code_of_name(&mut self, at: usize) -> Result<u32, PatternError> {
        if !self.take('{')? {
            return Err(error(at, r"expected `{` after `\N`"));
        }
        let name = self.take_until('}', "character name")?;
        let found = unicode_names2::character(&name);
        found
            .map(u32::from)
            .ok_or_else(|| unsupported(at, format!("unsupported character name `{name}`")))
    }

    fn hexadecimal(&mut self, length: usize, at: usize) -> Result<u32, PatternError> {
        let digits = self.take_while(length, |byte| byte.is_ascii_hexdigit());
        if digits.len() < length {
            return Err(error(at, "incomplete escape: too few digits"));
        }
        Ok(u32::from_str_radix(digits, 16).expect("these are hexadecimal digits"))
    }

    /// Parses a class after its bracket, which is at `at`.
    fn class(&mut self, at: usize, flags: Flags) -> Result<Piece, PatternError> {
        let unclosed = || error(at, "unclosed character class: missing `]`");
        let open = if self.take('^')? { "[^" } else { "[" };
        let mut text = String::from(open);
        let mut first = true;
        let mut has_i = false;
        loop {
            let start = self.at;
            let token = self.next()?.ok_or_else(unclosed)?;
            if token == Token::Plain(']') && !first {
                break;
            }
            first = false;
            let member = self.member(token, start, flags)?;
            has_i |= member.includes_turkish_i(&member);
            if !self.take('-')? {
                member.write(&mut text);
                continue;
            }
            let second = self.at;
            match self.next()?.ok_or_else(unclosed)? {
                Token::Plain(']') => {
                    member.write(&mut text);
                    Member::Code(u32::from('-')).write(&mut text);
                    break;
                }
                token => {
                    let last = self.member(token, second, flags)?;
                    has_i |= member.includes_turkish_i(&last);
                    write_range(&member, &last, &mut text)
                        .ok_or_else(|| error(start, "invalid character range"))?;
                }
            }
        }
        if has_i && flags.folds_turkish_i() {
            text.push_str(TURKISH_I_CLASS);
        }
        // A class of surrogates only is empty here, and empty brackets have another meaning in the
        // engine.
        if text == open {
            text.push_str(NO_CHARACTER);
        }
        text.push(']');
        Ok(Piece::item(text, Width::ONE))
    }

    fn member(&mut self, token: Token, at: usize, flags: Flags) -> Result<Member, PatternError> {
        let character = match token {
            Token::Plain(character) => return Ok(Member::Code(u32::from(character))),
            Token::Escaped(character) => character,
        };
        match character {
            'b' => Ok(Member::Code(0x08)),
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => Ok(Member::Category(category(character, flags))),
            '0'..='7' => {
                self.at = at + 1;
                let digits = self.take_while(3, is_octal).to_owned();
                octal_code(&digits, at).map(Member::Code)
            }
            '8' | '9' => Err(error(at, format!(r"unknown escape `\{character}`"))),
            _ => self.escaped_code(character, at).map(Member::Code),
        }
    }

    /// Parses the rest of a group after its parenthesis, which is at `at`.
    fn group(&mut self, at: usize, flags: Flags) -> Result<Group, PatternError> {
        if !self.take('?')? {
            return self.capture(None, at, flags).map(Group::Piece);
        }
        let character = match self.next()? {
            Some(Token::Plain(character)) => character,
            Some(Token::Escaped(_)) => return Err(error(at, "unknown group syntax")),
            None => return Err(self.error_here("unexpected end of pattern")),
        };
        match character {
            'P' => self.named(at, flags).map(Group::Piece),
            ':' => self.nested("(?:", at, flags).map(Group::Piece),
            '>' => self.nested("(?>", at, flags).map(Group::Piece),
            '#' => self.comment(at),
            '=' => self.look("(?=", at, flags).map(Group::Piece),
            '!' => self.look("(?!", at, flags).map(Group::Piece),
            '<' => match self.next()? {
                Some(Token::Plain('=')) => self.look_behind("(?<=", at, flags).map(Group::Piece),
                Some(Token::Plain('!')) => self.look_behind("(?<!", at, flags).map(Group::Piece),
                _ => Err(error(
                    at,
                    "unknown group syntax; write a named group as `(?P<name>...)`",
                )),
            },
            '(' => self.conditional(at, flags).map(Group::Piece),
            '-' | 'i' | 'L' | 'm' | 's' | 'x' | 'a' | 't' | 'u' => self.flags(character, at, flags),
            _ => Err(error(at, "unknown group syntax")),
        }
    }

    fn comment(&mut self, at: usize) -> Result<Group, PatternError> {
        loop {
            match self.next()? {
                None => return Err(error(at, "unclosed comment: missing `)`")),
                Some(Token::Plain(')')) => return Ok(Group::Nothing),
                Some(_) => {}
            }
        }
    }

    /// Parses the rest of `(?P<name>...)` or `(?P=name)`.
    fn named(&mut self, at: usize, flags: Flags) -> Result<Piece, PatternError> {
        match self.next()? {
            Some(Token::Plain('<')) => {
                let name = self.take_until('>', "group name")?;
                if !is_identifier(&name) {
                    return Err(error(
                        at,
                        format!("`{}` is not a valid group name", name.escape_debug()),
                    ));
                }
                self.capture(Some(name), at, flags)
            }
            Some(Token::Plain('=')) => {
                let name = self.take_until(')', "group name")?;
                let group = self.group_named(&name, at)?;
                self.reference(group, at)
            }
            _ => Err(error(at, "unknown group syntax")),
        }
    }

    fn group_named(&self, name: &str, at: usize) -> Result<usize, PatternError> {
        self.names
            .get(name)
            .copied()
            .ok_or_else(|| error(at, format!("unknown group `{}`", name.escape_debug())))
    }

    fn capture(
        &mut self,
        name: Option<String>,
        at: usize,
        flags: Flags,
    ) -> Result<Piece, PatternError> {
        let group = self.groups.len();
        self.groups.push(None);
        if let Some(name) = name
            && self.names.insert(name, group).is_some()
        {
            return Err(error(at, "duplicate group name"));
        }
        let piece = self.nested("(", at, flags)?;
        self.groups[group] = Some(piece.width);
        Ok(piece)
    }

    /// Parses the contents of a group and its closing parenthesis.
    fn nested(&mut self, open: &str, at: usize, flags: Flags) -> Result<Piece, PatternError> {
        if self.nesting == MAX_NESTING {
            return Err(unsupported(
                at,
                format!("groups nested deeper than {MAX_NESTING} levels"),
            ));
        }
        self.nesting += 1;
        let inside = self.alternation(flags)?;
        self.nesting -= 1;
        self.close(at)?;
        Ok(Piece::item(format!("{open}{})", inside.text), inside.width))
    }

    fn close(&mut self, at: usize) -> Result<(), PatternError> {
        if self.take(')')? {
            Ok(())
        } else {
            Err(error(at, "unclosed group: missing `)`"))
        }
    }

    fn look(&mut self, open: &str, at: usize, flags: Flags) -> Result<Piece, PatternError> {
        let inside = self.nested(open, at, flags)?;
        Ok(Piece::item(inside.text, Width::NONE))
    }

    fn look_behind(&mut self, open: &str, at: usize, flags: Flags) -> Result<Piece, PatternError> {
        let outer = self.behind;
        self.behind = Some(outer.unwrap_or(self.groups.len()));
        let inside = self.nested(open, at, flags)?;
        self.behind = outer;
        if inside.width.least != inside.width.most {
            return Err(error(at, "look-behind without a fixed width"));
        }
        Ok(Piece::item(inside.text, Width::NONE))
    }

    /// Parses the rest of `(?(1)yes|no)`, after the second opening parenthesis.
    fn conditional(&mut self, at: usize, flags: Flags) -> Result<Piece, PatternError> {
        let name = self.take_until(')', "group name")?;
        let group = if is_identifier(&name) {
            self.group_named(&name, at)?
        } else {
            match python_index(&name) {
                None => {
                    return Err(error(
                        at,
                        format!("`{}` is not a valid group name", name.escape_debug()),
                    ));
                }
                Some(0) => return Err(error(at, "a condition cannot refer to group 0")),
                Some(group) => group,
            }
        };
        if self.groups.get(group).is_some_and(Option::is_none) {
            // Python supports it, but the engine gives another result.
            return Err(unsupported(
                at,
                "a condition on an enclosing group is not supported",
            ));
        }
        self.conditions.push((group, at));
        self.check_behind(group, at)?;
        if self.nesting == MAX_NESTING {
            return Err(unsupported(
                at,
                format!("groups nested deeper than {MAX_NESTING} levels"),
            ));
        }
        self.nesting += 1;
        let yes = self.sequence(flags, false)?;
        let mut no = Piece::item("", Width::NONE);
        if self.take('|')? {
            no = self.sequence(flags, false)?;
            if self.peek_is('|')? {
                return Err(self.error_here("a condition with more than two branches"));
            }
        }
        self.nesting -= 1;
        self.close(at)?;
        // `(?=)` always matches. Without it, two empty branches would turn the condition itself
        // into an assertion.
        let text = format!("(?({group})(?=){}|(?:{}))", yes.text, no.text);
        Ok(Piece::item(text, yes.width.or(no.width)))
    }

    /// Parses the rest of `(?i)` for the whole pattern, or of `(?i-s:...)`, after `first`.
    fn flags(&mut self, first: char, at: usize, flags: Flags) -> Result<Group, PatternError> {
        let (on, end) = self.flag_letters(first, at)?;
        if on.contains(['L', 't']) {
            return Err(error(
                at,
                "flags `L` and `t` are not valid for string patterns",
            ));
        }
        if on.contains('a') && on.contains('u') {
            return Err(error(at, "flags `a` and `u` are incompatible"));
        }
        if end == ')' {
            if on.contains('u') && self.global.ascii {
                return Err(error(at, "flags `a` and `u` are incompatible"));
            }
            self.global.turn(&on, true);
            return Ok(Group::Flags);
        }
        let mut off = String::new();
        if end == '-' {
            let Some(Token::Plain(next)) = self.next()? else {
                return Err(self.error_here("missing flag"));
            };
            if !is_flag(next) {
                return Err(error(at, "unknown flag"));
            }
            let (letters, end) = self.flag_letters(next, at)?;
            if end != ':' {
                return Err(error(at, "missing `:` after flags"));
            }
            off = letters;
        }
        if off.contains(['a', 'u', 'L', 't']) {
            return Err(error(at, "flag cannot be turned off in a group"));
        }
        if off.chars().any(|letter| on.contains(letter)) {
            return Err(error(at, "flag turned on and off at once"));
        }
        let mut inner = flags;
        inner.turn(&on, true);
        inner.turn(&off, false);
        let open = if inner.ignore_case == flags.ignore_case {
            "(?:"
        } else if inner.ignore_case {
            "(?i:"
        } else {
            "(?-i:"
        };
        self.nested(open, at, inner).map(Group::Piece)
    }

    /// Parses flags from `first` on. Returns them with the character that ends them.
    fn flag_letters(&mut self, first: char, at: usize) -> Result<(String, char), PatternError> {
        let mut letters = String::new();
        let mut character = first;
        loop {
            if matches!(character, ')' | '-' | ':') {
                return Ok((letters, character));
            }
            if !is_flag(character) {
                return Err(error(at, "unknown flag"));
            }
            letters.push(character);
            character = match self.next()? {
                Some(Token::Plain(character)) => character,
                Some(Token::Escaped(_)) | None => return Err(error(at, "unterminated flags")),
            };
        }
    }
}

impl Flags {
    fn turn(&mut self, letters: &str, on: bool) {
        for letter in letters.chars() {
            match letter {
                'i' => self.ignore_case = on,
                'm' => self.multi_line = on,
                's' => self.dot_all = on,
                'x' => self.verbose = on,
                'a' => self.ascii = true,
                'u' => self.ascii = false,
                _ => {}
            }
        }
    }
}

fn is_flag(character: char) -> bool {
    matches!(character, 'i' | 'L' | 'm' | 's' | 'x' | 'a' | 't' | 'u')
}

/// Greediness of a quantifier.
#[derive(Clone, Copy)]
enum Style {
    Greedy,
    Lazy,
    Possessive,
}

fn repeat_something(text: &str, least: u64, most: Option<u64>, style: Style) -> String {
    let quantifier = match (least, most) {
        (0, None) => "*".to_owned(),
        (1, None) => "+".to_owned(),
        (0, Some(1)) => "?".to_owned(),
        (least, None) => format!("{{{least},}}"),
        (least, Some(most)) => format!("{{{least},{most}}}"),
    };
    match style {
        Style::Greedy => format!("{text}{quantifier}"),
        Style::Lazy => format!("{text}{quantifier}?"),
        Style::Possessive => format!("(?>{text}{quantifier})"),
    }
}

/// Repeats an empty or zero-times pattern, which matches at most once. The engine would reject a
/// repeated look-around, and drop the groups of `{0}`.
fn repeat_nothing(text: &str, least: u64, most: Option<u64>, style: Style) -> String {
    match (least, style) {
        _ if most == Some(0) && !has_groups(text) => "(?:)".to_owned(),
        _ if most == Some(0) => format!("(?:(?!){text}|)"),
        (0, Style::Greedy) => format!("(?:{text}|)"),
        (0, Style::Lazy) => format!("(?:|{text})"),
        (0, Style::Possessive) => format!("(?>{text}|)"),
        (_, Style::Greedy | Style::Lazy) => text.to_owned(),
        (_, Style::Possessive) => format!("(?>{text})"),
    }
}

/// Returns whether a translated text has capturing groups. Literal parentheses are written as
/// numeric escapes in it.
fn has_groups(text: &str) -> bool {
    text.replace("(?", "").contains('(')
}

/// Result of parsing a parenthesis.
enum Group {
    Piece(Piece),
    /// A comment.
    Nothing,
    /// Flags for the whole pattern, which are stored in the reader.
    Flags,
}

/// Member of a class.
enum Member {
    Code(u32),
    Category(&'static str),
}

impl Member {
    /// Returns whether one of [`TURKISH_I`] is in the range from here to `last`.
    fn includes_turkish_i(&self, last: &Self) -> bool {
        match (self, last) {
            (Member::Code(first), Member::Code(last)) => {
                TURKISH_I.iter().any(|code| (first..=last).contains(&code))
            }
            (Member::Code(_) | Member::Category(_), _) => false,
        }
    }

    fn write(&self, text: &mut String) {
        match self {
            Member::Code(code) => write_codes(*code, *code, text),
            Member::Category(category) => text.push_str(category),
        }
    }
}

fn write_range(first: &Member, last: &Member, text: &mut String) -> Option<()> {
    match (first, last) {
        (Member::Code(first), Member::Code(last)) if first <= last => {
            write_codes(*first, *last, text);
            Some(())
        }
        (Member::Code(_) | Member::Category(_), _) => None,
    }
}

/// Writes the characters from `first` to `last`, except surrogates, which strings cannot contain.
fn write_codes(first: u32, last: u32, text: &mut String) {
    let mut write = |first: u32, last: u32| {
        if first <= last {
            write!(text, r"\x{{{first:X}}}-\x{{{last:X}}}")
                .expect("writing to a String does not fail");
        }
    };
    write(first, last.min(0xD7FF));
    write(first.max(0xE000), last);
}

/// Returns the expression for one character.
fn literal(code: u32, flags: Flags) -> Piece {
    let text = match char::from_u32(code) {
        Some(_) if flags.folds_turkish_i() && TURKISH_I.contains(&code) => {
            format!("[{TURKISH_I_CLASS}]")
        }
        Some(character) if character.is_ascii_alphanumeric() => character.to_string(),
        Some(_) => format!(r"\x{{{code:X}}}"),
        None => NO_CHARACTER.to_owned(),
    };
    Piece::item(text, Width::ONE)
}

fn is_octal(byte: u8) -> bool {
    matches!(byte, b'0'..=b'7')
}

fn octal_code(digits: &str, at: usize) -> Result<u32, PatternError> {
    match u32::from_str_radix(digits, 8) {
        Ok(code) if code <= 0o377 => Ok(code),
        _ => Err(error(at, r"octal escape larger than `\377`")),
    }
}

/// Returns the class members for `\d` and the like. Python's `\w` is narrower than the engine's: it
/// excludes combining characters, and connectors other than `_`. Its `\s` includes four more
/// separators.
fn category(letter: char, flags: Flags) -> &'static str {
    match (letter, flags.ascii) {
        ('d', false) => r"\d",
        ('D', false) => r"\D",
        ('s', false) => r"\s\x1C-\x1F",
        ('S', false) => r"[^\s\x1C-\x1F]",
        ('w', false) => r"\p{L}\p{N}_",
        ('W', false) => r"[^\p{L}\p{N}_]",
        ('d', true) => "0-9",
        ('D', true) => "[^0-9]",
        ('s', true) => r" \t\n\r\x0B\x0C",
        ('S', true) => r"[^ \t\n\r\x0B\x0C]",
        ('w', true) => "a-zA-Z0-9_",
        (_, true) => "[^a-zA-Z0-9_]",
        (_, false) => unreachable!("only called with the letters of categories"),
    }
}

fn boundary(flags: Flags) -> String {
    let word = category('w', flags);
    format!("(?-i:(?<=[{word}])(?![{word}])|(?<![{word}])(?=[{word}]))")
}

/// Returns the expression for `\B`. In an empty string, Python matches neither `\b` nor `\B`.
fn not_boundary(flags: Flags) -> String {
    let word = category('w', flags);
    format!(r"(?-i:(?<=[{word}])(?=[{word}])|(?<![{word}])(?![{word}])(?!\A\z))")
}

fn error(at: usize, message: impl Into<String>) -> PatternError {
    PatternError {
        at: Some(at),
        message: message.into(),
        is_unsupported: false,
    }
}

/// Creates an error for a pattern that Python supports.
fn unsupported(at: usize, message: impl Into<String>) -> PatternError {
    PatternError {
        is_unsupported: true,
        ..error(at, message)
    }
}
