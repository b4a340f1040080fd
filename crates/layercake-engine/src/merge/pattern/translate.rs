//! Python's regular expressions to those of the engine beneath.
//!
//! Reads a pattern token by token as Python 3.11's `re` does, refuses what it
//! refuses, and writes an expression that means the same to `fancy_regex`.
//! All flags are resolved here, except for the case of letters; every
//! character that is no letter or digit is written by its number; groups keep
//! their numbers and lose their names.

use std::collections::HashMap;
use std::fmt::Write;

use super::PatternError;

/// Groups may be nested this deep; the engine ends not far above.
const MAX_NESTING: usize = 50;
/// Python's own bound for `{n}`.
const MAX_REPEAT: u64 = u32::MAX as u64;
/// What stands for a surrogate, which no text of ours holds.
const NO_CHARACTER: &str = r"[^\s\S]";

/// A pattern in the words of the engine.
#[derive(Debug)]
pub(super) struct Translation {
    body: String,
    ignore_case: bool,
    /// How many groups there are, the whole match not counted.
    pub(super) groups: usize,
    pub(super) names: HashMap<String, usize>,
}

impl Translation {
    /// The expression.
    pub(super) fn whole(&self) -> String {
        format!("{}{}", self.prefix(), self.body)
    }

    /// The expression, but not for an empty match where the search starts.
    pub(super) fn advancing(&self) -> String {
        format!("{}(?:{})(?!\\G)", self.prefix(), self.body)
    }

    fn prefix(&self) -> &'static str {
        if self.ignore_case { "(?i)" } else { "" }
    }
}

/// Reads `text`.
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
        return Err(error(*at, format!("there is no group {group}")));
    }
    let ignore_case = reader.global.ignore_case;
    Ok(Translation { body: whole.text, ignore_case, groups, names: reader.names })
}

/// Python's `str.isidentifier`, but for a few characters nobody uses.
pub(super) fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    let first = |character: char| character.is_alphabetic() || character == '_';
    characters.next().is_some_and(first)
        && characters.all(|character| character.is_alphanumeric() || character == '_')
}

/// A number that is no less than 0, as Python's `int` reads it.
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

/// The flags in force at some place.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "Python's flags are switches, each by itself")]
struct Flags {
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
    verbose: bool,
    ascii: bool,
}

impl Flags {
    /// Whether `i` matches `İ` and `ı` too: to Python they are cases of one letter, to the engine
    /// they are not.
    fn folds_turkish_i(self) -> bool {
        self.ignore_case && !self.ascii
    }
}

/// `I`, `i`, `İ` and `ı`.
const TURKISH_I: [u32; 4] = [0x49, 0x69, 0x130, 0x131];
/// They as members of a class.
const TURKISH_I_CLASS: &str = r"Ii\x{130}\x{131}";

/// How many characters something matches, least and most.
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
        Self { least: self.least.saturating_add(next.least), most }
    }

    fn or(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), most: self.most.max(other.most) }
    }

    fn repeated(self, least: u64, most: Option<u64>) -> Self {
        let times = most.unwrap_or(u64::MAX);
        let most = self.most.saturating_mul(times);
        Self { least: self.least.saturating_mul(least), most }
    }
}

/// Something translated.
struct Piece {
    text: String,
    width: Width,
    kind: Kind,
}

/// What a quantifier asks of what stands before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It can be repeated.
    Item,
    /// `^`, `\b` and the like: nothing to repeat.
    Place,
    /// It is repeated already.
    Repeated,
}

impl Piece {
    fn item(text: impl Into<String>, width: Width) -> Self {
        Self { text: text.into(), width, kind: Kind::Item }
    }

    fn place(text: impl Into<String>) -> Self {
        Self { text: text.into(), width: Width::NONE, kind: Kind::Place }
    }
}

/// A character, or one with a backslash before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Plain(char),
    Escaped(char),
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// The flags of `(?i)` and the like at the very start.
    global: Flags,
    /// The width of each group; none while it is open. The first is the whole.
    groups: Vec<Option<Width>>,
    names: HashMap<String, usize>,
    /// Inside a look-behind: how many groups there were before it.
    behind: Option<usize>,
    /// Groups that `(?(n)...)` asks for, which may come later.
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
                None => Err(self.error_here("a backslash at the end")),
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

    /// As many as `most` characters that `is` accepts.
    fn take_while(&mut self, most: usize, is: impl Fn(u8) -> bool) -> &str {
        let rest = &self.text[self.at..];
        let length = rest.bytes().take(most).take_while(|byte| is(*byte)).count();
        self.at += length;
        &rest[..length]
    }

    /// The text up to `end`, which is read too.
    fn take_until(&mut self, end: char, what: &str) -> Result<String, PatternError> {
        let start = self.at;
        loop {
            let before = self.at;
            match self.next()? {
                None => return Err(error(start, format!("{what} without `{end}`"))),
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

    /// `a|b|c`, up to a parenthesis or the end.
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

    /// What stands between two `|`. Only the `first` one may begin with flags
    /// for all.
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
                        return Err(error(at, "flags for the whole pattern not at its start"));
                    }
                },
                Token::Plain('.') => {
                    let any = if flags.dot_all { "(?s:.)" } else { r"[^\n]" };
                    pieces.push(Piece::item(any, Width::ONE));
                }
                Token::Plain('^') => {
                    pieces.push(Piece::place(if flags.multi_line { "(?m:^)" } else { r"\A" }));
                }
                // Python's `$` also stands before a line break at the end.
                Token::Plain('$') => {
                    let end = if flags.multi_line { "(?m:$)" } else { r"(?=\n?\z)" };
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
        let width = pieces.iter().fold(Width::NONE, |width, piece| width.then(piece.width));
        let text = pieces.iter().map(|piece| piece.text.as_str()).collect();
        Ok(Piece { text, width, kind: Kind::Item })
    }

    /// In verbose patterns, blanks and comments mean nothing.
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

    /// The bounds of a quantifier whose first character has been read; none
    /// where it is a brace that stands for itself.
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
        let least = self.take_while(usize::MAX, |byte| byte.is_ascii_digit()).to_owned();
        let most = if self.take(',')? {
            self.take_while(usize::MAX, |byte| byte.is_ascii_digit()).to_owned()
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
                _ => Err(error(here, "the number of repetitions is too large")),
            },
        };
        let (least, most) = (bound(&least)?.unwrap_or(0), bound(&most)?);
        if most.is_some_and(|most| most < least) {
            return Err(error(here, "the least number of repetitions is above the most"));
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
            None | Some(Piece { kind: Kind::Place, .. }) => {
                return Err(error(at, "nothing to repeat"));
            }
            Some(Piece { kind: Kind::Repeated, .. }) => {
                return Err(error(at, "a repetition of a repetition"));
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
        pieces.push(Piece { text, width: width.repeated(least, most), kind: Kind::Repeated });
        Ok(())
    }

    /// An escape outside of classes, whose backslash is at `at`.
    fn escape(&mut self, character: char, at: usize, flags: Flags) -> Result<Piece, PatternError> {
        let piece = match character {
            'A' => Piece::place(r"\A"),
            'Z' => Piece::place(r"\z"),
            'b' => Piece::place(boundary(flags)),
            'B' => Piece::place(no_boundary(flags)),
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => {
                // The engine would take `ſ` for an `s` in it.
                let open = if flags.ignore_case { "(?-i:[" } else { "(?:[" };
                Piece::item(format!("{open}{}])", category(character, flags)), Width::ONE)
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

    /// A back-reference, or a character by three octal digits.
    fn number(&mut self, first: char, at: usize, flags: Flags) -> Result<Piece, PatternError> {
        let rest = &self.text[at + 1..];
        let octal = rest.bytes().take(3).take_while(|byte| is_octal(*byte)).count();
        if octal == 3 {
            self.at = at + 4;
            return octal_code(&rest[..3], at).map(|code| literal(code, flags));
        }
        let more = self.take_while(1, |byte| byte.is_ascii_digit());
        let group = format!("{first}{more}").parse().expect("one or two digits are a number");
        if group >= self.groups.len() {
            return Err(error(at, format!("there is no group {group}")));
        }
        self.reference(group, at)
    }

    fn reference(&self, group: usize, at: usize) -> Result<Piece, PatternError> {
        let Some(width) = self.groups[group] else {
            return Err(error(at, "a reference to the group it stands in"));
        };
        self.check_behind(group, at)?;
        Ok(Piece::item(format!(r"(?:\{group})"), width))
    }

    fn check_behind(&self, group: usize, at: usize) -> Result<(), PatternError> {
        let Some(before) = self.behind else { return Ok(()) };
        if self.groups.get(group).copied().flatten().is_none() {
            return Err(error(at, "a reference to the group it stands in"));
        }
        if group >= before {
            return Err(error(at, "a reference to a group of the same look-behind"));
        }
        Ok(())
    }

    /// The character that an escape stands for, inside classes and outside.
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
                _ => return Err(error(at, r"an escape `\U` beyond the last character")),
            },
            'N' => self.code_of_name(at)?,
            _ if character.is_ascii_alphabetic() => {
                return Err(error(at, format!(r"unknown escape `\{character}`")));
            }
            _ => u32::from(character),
        };
        Ok(code)
    }

    /// The character of `\N{NAME}`. Python may know more names: aliases, and those of later
    /// versions of Unicode.
    fn code_of_name(&mut self, at: usize) -> Result<u32, PatternError> {
        if !self.take('{')? {
            return Err(error(at, r"`\N` without `{`"));
        }
        let name = self.take_until('}', "name of a character")?;
        let found = unicode_names2::character(&name);
        let unknown = || unsupported(at, format!("the character name `{name}` is not known here"));
        found.map(u32::from).ok_or_else(unknown)
    }

    fn hexadecimal(&mut self, length: usize, at: usize) -> Result<u32, PatternError> {
        let digits = self.take_while(length, |byte| byte.is_ascii_hexdigit());
        if digits.len() < length {
            return Err(error(at, "an escape with too few digits"));
        }
        Ok(u32::from_str_radix(digits, 16).expect("these are hexadecimal digits"))
    }

    /// A class whose bracket, at `at`, has been read.
    fn class(&mut self, at: usize, flags: Flags) -> Result<Piece, PatternError> {
        let unclosed = || error(at, "a class without its closing `]`");
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
            has_i |= member.reaches_turkish_i(&member);
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
                    has_i |= member.reaches_turkish_i(&last);
                    write_range(&member, &last, &mut text)
                        .ok_or_else(|| error(start, "a range of characters that is none"))?;
                }
            }
        }
        if has_i && flags.folds_turkish_i() {
            text.push_str(TURKISH_I_CLASS);
        }
        // Surrogates alone leave nothing, and brackets around nothing mean
        // something else to the engine.
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

    /// What a parenthesis at `at`, which has been read, begins.
    fn group(&mut self, at: usize, flags: Flags) -> Result<Group, PatternError> {
        if !self.take('?')? {
            return self.capture(None, at, flags).map(Group::Piece);
        }
        let character = match self.next()? {
            Some(Token::Plain(character)) => character,
            Some(Token::Escaped(_)) => return Err(error(at, "an unknown kind of group")),
            None => return Err(self.error_here("the pattern ends too early")),
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
                _ => Err(error(at, "an unknown kind of group; names are written `(?P<name>...)`")),
            },
            '(' => self.conditional(at, flags).map(Group::Piece),
            '-' | 'i' | 'L' | 'm' | 's' | 'x' | 'a' | 't' | 'u' => self.flags(character, at, flags),
            _ => Err(error(at, "an unknown kind of group")),
        }
    }

    fn comment(&mut self, at: usize) -> Result<Group, PatternError> {
        loop {
            match self.next()? {
                None => return Err(error(at, "a comment without its closing `)`")),
                Some(Token::Plain(')')) => return Ok(Group::Nothing),
                Some(_) => {}
            }
        }
    }

    /// `(?P<name>...)` or `(?P=name)`.
    fn named(&mut self, at: usize, flags: Flags) -> Result<Piece, PatternError> {
        match self.next()? {
            Some(Token::Plain('<')) => {
                let name = self.take_until('>', "the name of a group")?;
                if !is_identifier(&name) {
                    return Err(error(at, format!("`{}` is no name", name.escape_debug())));
                }
                self.capture(Some(name), at, flags)
            }
            Some(Token::Plain('=')) => {
                let name = self.take_until(')', "the name of a group")?;
                let group = self.group_named(&name, at)?;
                self.reference(group, at)
            }
            _ => Err(error(at, "an unknown kind of group")),
        }
    }

    fn group_named(&self, name: &str, at: usize) -> Result<usize, PatternError> {
        let missing = || error(at, format!("there is no group `{}`", name.escape_debug()));
        self.names.get(name).copied().ok_or_else(missing)
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
            return Err(error(at, "a second group of the same name"));
        }
        let piece = self.nested("(", at, flags)?;
        self.groups[group] = Some(piece.width);
        Ok(piece)
    }

    /// The inside of a group, and its closing parenthesis.
    fn nested(&mut self, open: &str, at: usize, flags: Flags) -> Result<Piece, PatternError> {
        if self.nesting == MAX_NESTING {
            return Err(unsupported(at, format!("groups nested deeper than {MAX_NESTING} levels")));
        }
        self.nesting += 1;
        let inside = self.alternation(flags)?;
        self.nesting -= 1;
        self.close(at)?;
        Ok(Piece::item(format!("{open}{})", inside.text), inside.width))
    }

    fn close(&mut self, at: usize) -> Result<(), PatternError> {
        if self.take(')')? { Ok(()) } else { Err(error(at, "a group without its closing `)`")) }
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
            return Err(error(at, "a look-behind whose length is not fixed"));
        }
        Ok(Piece::item(inside.text, Width::NONE))
    }

    /// `(?(1)yes|no)`, read up to the second parenthesis.
    fn conditional(&mut self, at: usize, flags: Flags) -> Result<Piece, PatternError> {
        let name = self.take_until(')', "the name of a group")?;
        let group = if is_identifier(&name) {
            self.group_named(&name, at)?
        } else {
            match python_index(&name) {
                None => return Err(error(at, format!("`{}` is no name", name.escape_debug()))),
                Some(0) => return Err(error(at, "there is no group 0 to ask for")),
                Some(group) => group,
            }
        };
        if self.groups.get(group).is_some_and(Option::is_none) {
            // Python allows it, and the engine would answer otherwise.
            return Err(unsupported(at, "a condition on the group it stands in is not supported"));
        }
        self.conditions.push((group, at));
        self.check_behind(group, at)?;
        if self.nesting == MAX_NESTING {
            return Err(unsupported(at, format!("groups nested deeper than {MAX_NESTING} levels")));
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
        // `(?=)` is always there; without it, two empty branches would make
        // the condition itself what has to hold.
        let text = format!("(?({group})(?=){}|(?:{}))", yes.text, no.text);
        Ok(Piece::item(text, yes.width.or(no.width)))
    }

    /// `(?i)` for the whole pattern, or `(?i-s:...)`; `first` has been read.
    fn flags(&mut self, first: char, at: usize, flags: Flags) -> Result<Group, PatternError> {
        let (on, end) = self.flag_letters(first, at)?;
        if on.contains(['L', 't']) {
            return Err(error(at, "flags `L` and `t` are not for texts"));
        }
        if on.contains('a') && on.contains('u') {
            return Err(error(at, "flags `a` and `u` exclude each other"));
        }
        if end == ')' {
            if on.contains('u') && self.global.ascii {
                return Err(error(at, "flags `a` and `u` exclude each other"));
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
            return Err(error(at, "a flag that cannot be turned off in a group"));
        }
        if off.chars().any(|letter| on.contains(letter)) {
            return Err(error(at, "a flag turned on and off"));
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

    /// Flags from `first` on, and what ends them.
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
                Some(Token::Escaped(_)) | None => return Err(error(at, "flags without end")),
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

/// How a quantifier chooses.
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

/// What is empty, or repeated no times, is met once or not at all; the engine
/// would refuse to repeat a look-around, and forget the groups of `{0}`.
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

/// Whether a translated text has groups that capture; parentheses that mean
/// themselves are written by their numbers in it.
fn has_groups(text: &str) -> bool {
    text.replace("(?", "").contains('(')
}

/// What a parenthesis turned out to be.
enum Group {
    Piece(Piece),
    /// A comment.
    Nothing,
    /// Flags for the whole pattern, which are noted.
    Flags,
}

/// A member of a class.
enum Member {
    Code(u32),
    Category(&'static str),
}

impl Member {
    /// Whether one of [`TURKISH_I`] is in the range from here to `last`.
    fn reaches_turkish_i(&self, last: &Self) -> bool {
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

/// The characters from `first` to `last`, without surrogates, which no text
/// of ours holds.
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

/// One character.
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
        _ => Err(error(at, r"an octal escape larger than `\377`")),
    }
}

/// What `\d` and the like match, to stand in a class. Python's `\w` is
/// narrower than the engine's: no combining characters, and `_` alone among
/// the connecting ones; its `\s` has four separators more.
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
        (_, false) => unreachable!("only the letters of categories are asked for"),
    }
}

fn boundary(flags: Flags) -> String {
    let word = category('w', flags);
    format!("(?-i:(?<=[{word}])(?![{word}])|(?<![{word}])(?=[{word}]))")
}

/// Not a boundary; in an empty text, Python has neither.
fn no_boundary(flags: Flags) -> String {
    let word = category('w', flags);
    format!(r"(?-i:(?<=[{word}])(?=[{word}])|(?<![{word}])(?![{word}])(?!\A\z))")
}

fn error(at: usize, message: impl Into<String>) -> PatternError {
    PatternError { at: Some(at), message: message.into(), is_unsupported: false }
}

/// An error for what Python takes.
fn unsupported(at: usize, message: impl Into<String>) -> PatternError {
    PatternError { is_unsupported: true, ..error(at, message) }
}
