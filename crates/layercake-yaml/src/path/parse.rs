//! Parser for paths.
//!
//! jsonpath_ng uses an LALR grammar (10.3) with unusual precedence of operators; brackets after an
//! expression have the lowest precedence, and apply to everything before them inside the
//! parentheses. This is an operator precedence parser with explicit stacks: no text can exhaust the
//! call stack.

use std::borrow::Cow;

use smol_str::SmolStr;

use super::{MAX_NESTING, MAX_PIECES, PathError, PathErrorKind, PathShape, Segment};

/// Maximum number of digits of an integer in Python.
const MAX_DIGITS: usize = 4300;

/// Expression of a path that is not plain. The right operand of an operator is the preceding
/// expression; the left operand ends at `left`.
#[derive(Debug)]
pub(super) enum PathExpression {
    /// `$`
    Root,
    /// `` `this` ``
    This,
    /// `` `parent` ``
    Parent,
    /// A name or an index.
    Step(Segment),
    /// `a,b`
    Names(Vec<SmolStr>),
    /// `*`, alone or among names
    AnyName,
    /// `[0,1]`
    Indexes(Vec<i64>),
    /// `[a:b:c]`; `[*]` has no bounds.
    Slice(Slice),
    /// Binary operation.
    Operation(PathOperator, usize),
}

/// Bounds of a slice.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slice {
    pub(super) start: Option<i64>,
    pub(super) end: Option<i64>,
    pub(super) step: Option<i64>,
}

/// Binary operators, lowest precedence first (10.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathOperator {
    Descendants,
    Child,
    Union,
    Intersection,
    Where,
    WhereNot,
}

/// Parses `text` as written.
pub(super) fn parse(text: &str) -> Result<PathShape, PathError> {
    if text == "." {
        return Ok(PathShape::Plain(Box::default()));
    }
    match bare_names(text) {
        Some(names) => Ok(PathShape::Plain(names)),
        None => parse_by_grammar(text),
    }
}

/// Names of a path like `.a.b`. Fast path for most paths.
fn bare_names(text: &str) -> Option<Box<[Segment]>> {
    let names = text.strip_prefix('.')?.split('.');
    let are_bare = names.clone().all(is_bare_name) && names.clone().count() <= MAX_PIECES;
    are_bare.then(|| names.map(|name| Segment::Name(name.into())).collect())
}

fn parse_by_grammar(text: &str) -> Result<PathShape, PathError> {
    let mut parser = PathParser {
        lexer: Lexer {
            text,
            at: 0,
            peeked: None,
        },
        output: Vec::with_capacity(8),
        operands: Vec::with_capacity(4),
        pending: Vec::with_capacity(4),
        pieces: 0,
    };
    if text.starts_with('.') {
        parser.push(PathExpression::Root, 0)?;
    } else {
        parser.operand()?;
    }
    parser.operators()?;
    Ok(shape(parser.output))
}

/// Whether `text` parses as this name without quotes.
pub(super) fn is_bare_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(starts_name)
        && characters.all(continues_name)
        && !matches!(text, "where" | "wherenot")
}

/// Names and indexes of a plain path; in postfix order, these are `first (step Child)*`.
fn shape(output: Vec<PathExpression>) -> PathShape {
    let plain = output
        .iter()
        .enumerate()
        .all(|(at, expression)| match expression {
            PathExpression::Root => at == 0,
            PathExpression::Step(_) => at == 0 || at % 2 == 1,
            PathExpression::Operation(operator, _) => {
                *operator == PathOperator::Child && at % 2 == 0
            }
            PathExpression::This
            | PathExpression::Parent
            | PathExpression::Names(_)
            | PathExpression::AnyName
            | PathExpression::Indexes(_)
            | PathExpression::Slice(_) => false,
        });
    if !plain {
        return PathShape::Tree(output);
    }
    let segments = output
        .into_iter()
        .filter_map(|expression| match expression {
            PathExpression::Step(segment) => Some(segment),
            _ => None,
        });
    PathShape::Plain(segments.collect())
}

struct PathParser<'t> {
    lexer: Lexer<'t>,
    /// Expressions in postfix order.
    output: Vec<PathExpression>,
    /// For each complete operand: its last expression and its depth.
    operands: Vec<PathOperand>,
    pending: Vec<Pending>,
    pieces: usize,
}

#[derive(Clone, Copy)]
struct PathOperand {
    at: usize,
    depth: usize,
}

#[derive(Clone, Copy)]
enum Pending {
    Parenthesis,
    Operator(PathOperator),
}

impl<'t> PathParser<'t> {
    /// Parses the beginning of an expression.
    fn operand(&mut self) -> Result<(), PathError> {
        loop {
            let token = self.lexer.next()?;
            let at = token.at;
            let expression = match token.kind {
                TokenKind::Symbol('(') => {
                    self.pending.push(Pending::Parenthesis);
                    continue;
                }
                TokenKind::Symbol('$') => PathExpression::Root,
                TokenKind::Symbol('*') => PathExpression::AnyName,
                TokenKind::Symbol('[') => self.brackets()?,
                TokenKind::Number(digits) => {
                    PathExpression::Step(Segment::Name(canonical(digits, at)?.into()))
                }
                TokenKind::Name(name) => self.names(name, at)?,
                TokenKind::Named(name) if name == "this" => PathExpression::This,
                TokenKind::Named(name) if name == "parent" => PathExpression::Parent,
                TokenKind::Named(name) => {
                    let kind = PathErrorKind::UnknownOperator(name.into_owned());
                    return Err(PathError { at, kind });
                }
                TokenKind::Symbol(_)
                | TokenKind::DoubleDot
                | TokenKind::Where
                | TokenKind::WhereNot
                | TokenKind::End => return Err(self.lexer.unexpected(&token)),
            };
            return self.push(expression, at);
        }
    }

    /// Parses the text after complete expressions, to the end.
    fn operators(&mut self) -> Result<(), PathError> {
        loop {
            let token = self.lexer.next()?;
            let operator = match token.kind {
                TokenKind::End => return self.finish(&token),
                TokenKind::Symbol('[') => {
                    self.reduce(|_| true, token.at)?;
                    let brackets = self.brackets()?;
                    self.push(brackets, token.at)?;
                    self.join(PathOperator::Child, token.at)?;
                    continue;
                }
                TokenKind::Symbol(')') => {
                    self.reduce(|_| true, token.at)?;
                    if self.pending.pop().is_none() {
                        return Err(self.lexer.unexpected(&token));
                    }
                    continue;
                }
                TokenKind::Symbol('.') => PathOperator::Child,
                TokenKind::DoubleDot => PathOperator::Descendants,
                TokenKind::Symbol('|') => PathOperator::Union,
                TokenKind::Symbol('&') => PathOperator::Intersection,
                TokenKind::Where => PathOperator::Where,
                TokenKind::WhereNot => PathOperator::WhereNot,
                TokenKind::Symbol(_)
                | TokenKind::Number(_)
                | TokenKind::Name(_)
                | TokenKind::Named(_) => return Err(self.lexer.unexpected(&token)),
            };
            self.reduce(|waiting| waiting >= operator, token.at)?;
            self.pending.push(Pending::Operator(operator));
            self.operand()?;
        }
    }

    fn finish(&mut self, end: &PathToken<'t>) -> Result<(), PathError> {
        self.reduce(|_| true, end.at)?;
        if self.pending.is_empty() {
            Ok(())
        } else {
            Err(self.lexer.unexpected(end))
        }
    }

    /// Reduces pending operators, down to a parenthesis, while `ready` holds.
    fn reduce(&mut self, ready: impl Fn(PathOperator) -> bool, at: usize) -> Result<(), PathError> {
        while let Some(Pending::Operator(operator)) = self.pending.last().copied() {
            if !ready(operator) {
                return Ok(());
            }
            self.pending.pop();
            self.join(operator, at)?;
        }
        Ok(())
    }

    fn join(&mut self, operator: PathOperator, at: usize) -> Result<(), PathError> {
        let right = self
            .operands
            .pop()
            .expect("an operator is pushed between two operands");
        let left = self
            .operands
            .pop()
            .expect("an operator is pushed between two operands");
        // A chain of children is walked in a loop, so only its right sides count.
        let left_depth = if operator == PathOperator::Child {
            left.depth
        } else {
            left.depth + 1
        };
        let depth = left_depth.max(right.depth + 1);
        if depth > MAX_NESTING {
            return Err(PathError {
                at,
                kind: PathErrorKind::TooDeep,
            });
        }
        self.operands.push(PathOperand {
            at: self.output.len(),
            depth,
        });
        self.output
            .push(PathExpression::Operation(operator, left.at));
        Ok(())
    }

    fn push(&mut self, expression: PathExpression, at: usize) -> Result<(), PathError> {
        self.count_piece(at)?;
        self.operands.push(PathOperand {
            at: self.output.len(),
            depth: 1,
        });
        self.output.push(expression);
        Ok(())
    }

    fn count_piece(&mut self, at: usize) -> Result<(), PathError> {
        self.pieces += 1;
        // The leading root is not counted.
        if self.pieces > MAX_PIECES + 1 {
            return Err(PathError {
                at,
                kind: PathErrorKind::TooLong,
            });
        }
        Ok(())
    }

    /// Parses a list of names after `name`, separated by `,`.
    fn names(&mut self, name: Cow<'t, str>, at: usize) -> Result<PathExpression, PathError> {
        if !self.lexer.peek_is(',')? {
            let wild = name == "*";
            return Ok(if wild {
                PathExpression::AnyName
            } else {
                PathExpression::Step(Segment::Name(name.into()))
            });
        }
        let mut names: Vec<SmolStr> = vec![name.into()];
        while self.lexer.take(',')? {
            self.count_piece(at)?;
            let token = self.lexer.next()?;
            let TokenKind::Name(name) = token.kind else {
                return Err(self.lexer.unexpected(&token));
            };
            names.push(name.into());
        }
        // A quoted `'*'` is a wildcard too, and makes the other names redundant.
        let wild = names.iter().any(|name| &**name == "*");
        Ok(if wild {
            PathExpression::AnyName
        } else {
            PathExpression::Names(names)
        })
    }

    /// Parses the contents of brackets up to the closing one, after `[`.
    fn brackets(&mut self) -> Result<PathExpression, PathError> {
        let token = self.lexer.next()?;
        let at = token.at;
        let expression = match token.kind {
            TokenKind::Symbol('*') => PathExpression::Slice(Slice::default()),
            TokenKind::Symbol(':') => self.slice(None)?,
            TokenKind::Name(name) => self.names(name, at)?,
            TokenKind::Number(digits) => {
                let first = index(digits, at)?;
                if self.lexer.take(':')? {
                    self.slice(Some(first))?
                } else {
                    self.indexes(first)?
                }
            }
            TokenKind::Symbol(_)
            | TokenKind::DoubleDot
            | TokenKind::Where
            | TokenKind::WhereNot
            | TokenKind::Named(_)
            | TokenKind::End => return Err(self.lexer.unexpected(&token)),
        };
        if self.lexer.take(']')? {
            return Ok(expression);
        }
        let token = self.lexer.next()?;
        Err(self.lexer.unexpected(&token))
    }

    /// Parses a slice from `start`, after its first colon.
    fn slice(&mut self, start: Option<i64>) -> Result<PathExpression, PathError> {
        let end = self.lexer.take_number()?;
        let step = if self.lexer.take(':')? {
            self.lexer.take_number()?
        } else {
            None
        };
        Ok(PathExpression::Slice(Slice { start, end, step }))
    }

    fn indexes(&mut self, first: i64) -> Result<PathExpression, PathError> {
        if !self.lexer.peek_is(',')? {
            return Ok(PathExpression::Step(Segment::Index(first)));
        }
        let mut indexes = vec![first];
        while self.lexer.take(',')? {
            let token = self.lexer.next()?;
            self.count_piece(token.at)?;
            let TokenKind::Number(digits) = token.kind else {
                return Err(self.lexer.unexpected(&token));
            };
            indexes.push(index(digits, token.at)?);
        }
        Ok(PathExpression::Indexes(indexes))
    }
}

/// A token and its offset.
struct PathToken<'t> {
    at: usize,
    kind: TokenKind<'t>,
}

enum TokenKind<'t> {
    /// One of `* . [ ] ( ) $ , : | & ~`.
    Symbol(char),
    DoubleDot,
    Where,
    WhereNot,
    Name(Cow<'t, str>),
    /// Integer as written, with its sign.
    Number(&'t str),
    /// A name in backquotes.
    Named(Cow<'t, str>),
    End,
}

/// Tokenizer for paths (10.2), which is lazy, so that the first error in the text is reported.
struct Lexer<'t> {
    text: &'t str,
    at: usize,
    peeked: Option<PathToken<'t>>,
}

impl<'t> Lexer<'t> {
    fn next(&mut self) -> Result<PathToken<'t>, PathError> {
        match self.peeked.take() {
            Some(token) => Ok(token),
            None => self.read(),
        }
    }

    fn peek_is(&mut self, symbol: char) -> Result<bool, PathError> {
        let token = self.next()?;
        let is = matches!(token.kind, TokenKind::Symbol(found) if found == symbol);
        self.peeked = Some(token);
        Ok(is)
    }

    fn take(&mut self, symbol: char) -> Result<bool, PathError> {
        let is = self.peek_is(symbol)?;
        if is {
            self.peeked = None;
        }
        Ok(is)
    }

    fn take_number(&mut self) -> Result<Option<i64>, PathError> {
        let token = self.next()?;
        if let TokenKind::Number(digits) = token.kind {
            return index(digits, token.at).map(Some);
        }
        self.peeked = Some(token);
        Ok(None)
    }

    fn read(&mut self) -> Result<PathToken<'t>, PathError> {
        let blanks = self.text.as_bytes()[self.at..].iter();
        self.at += blanks
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n'))
            .count();
        let at = self.at;
        let Some(character) = self.text[at..].chars().next() else {
            return Ok(PathToken {
                at,
                kind: TokenKind::End,
            });
        };
        let kind = match character {
            '.' if self.text[at + 1..].starts_with('.') => {
                self.at += 2;
                TokenKind::DoubleDot
            }
            '*' | '.' | '[' | ']' | '(' | ')' | '$' | ',' | ':' | '|' | '&' | '~' => {
                self.at += 1;
                TokenKind::Symbol(character)
            }
            '\'' | '"' => TokenKind::Name(self.quoted(character)?),
            '`' => TokenKind::Named(self.quoted(character)?),
            '-' | '0'..='9' => self.number()?,
            _ if starts_name(character) => self.name(),
            _ => return Err(self.unexpected_character(at)),
        };
        Ok(PathToken { at, kind })
    }

    fn name(&mut self) -> TokenKind<'t> {
        let rest = &self.text[self.at..];
        let ascii = rest
            .bytes()
            .take_while(|byte| byte.is_ascii() && continues_name(char::from(*byte)))
            .count();
        let further = rest[ascii..].find(|character| !continues_name(character));
        let end = further.map_or(rest.len(), |further| ascii + further);
        self.at += end;
        match &rest[..end] {
            "where" => TokenKind::Where,
            "wherenot" => TokenKind::WhereNot,
            name => TokenKind::Name(Cow::Borrowed(name)),
        }
    }

    fn number(&mut self) -> Result<TokenKind<'t>, PathError> {
        let rest = &self.text[self.at..];
        let sign = usize::from(rest.starts_with('-'));
        let digits = rest.as_bytes()[sign..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        let end = sign + digits.count();
        if end == sign {
            return Err(self.unexpected_character(self.at));
        }
        self.at += end;
        Ok(TokenKind::Number(&rest[..end]))
    }

    /// Parses a quoted string; a backslash escapes the next character, except a line break.
    fn quoted(&mut self, quote: char) -> Result<Cow<'t, str>, PathError> {
        let start = self.at;
        let inside = &self.text[start + 1..];
        let mut text = Cow::Borrowed("");
        let mut from = 0;
        loop {
            let rest = &inside[from..];
            let Some(end) = rest.find([quote, '\\']) else {
                return Err(PathError {
                    at: start,
                    kind: PathErrorKind::UnclosedQuote(quote),
                });
            };
            text += &rest[..end];
            from += end + 1;
            if rest[end..].starts_with(quote) {
                self.at = start + 1 + from;
                return Ok(text);
            }
            match inside[from..].chars().next() {
                Some(escaped) if escaped != '\n' => {
                    text += &inside[from..from + escaped.len_utf8()];
                    from += escaped.len_utf8();
                }
                _ => return Err(self.unexpected_character(start + from)),
            }
        }
    }

    fn unexpected_character(&self, at: usize) -> PathError {
        let character = self.text[at..]
            .chars()
            .next()
            .expect("the caller has looked at it");
        PathError {
            at,
            kind: PathErrorKind::UnexpectedCharacter(character),
        }
    }

    /// Error for `token`, the last one read.
    fn unexpected(&self, token: &PathToken<'t>) -> PathError {
        let kind = match token.kind {
            TokenKind::End => PathErrorKind::UnexpectedEnd,
            TokenKind::Symbol(_)
            | TokenKind::DoubleDot
            | TokenKind::Where
            | TokenKind::WhereNot
            | TokenKind::Name(_)
            | TokenKind::Number(_)
            | TokenKind::Named(_) => {
                PathErrorKind::UnexpectedToken(self.text[token.at..self.at].to_owned())
            }
        };
        PathError { at: token.at, kind }
    }
}

fn starts_name(character: char) -> bool {
    character.is_ascii_alphabetic()
        || matches!(character, '_' | '@' | '\u{4E00}'..='\u{9FA5}' | '\u{1F600}'..='\u{1F64F}')
}

fn continues_name(character: char) -> bool {
    starts_name(character) || character.is_ascii_digit() || character == '-'
}

/// Integer in Python's canonical form.
fn canonical(digits: &str, at: usize) -> Result<Cow<'_, str>, PathError> {
    if digits.len() > MAX_DIGITS {
        return Err(PathError {
            at,
            kind: PathErrorKind::TooLong,
        });
    }
    let (sign, number) = digits
        .strip_prefix('-')
        .map_or(("", digits), |rest| ("-", rest));
    let significant = number.trim_start_matches('0');
    Ok(match significant {
        "" => Cow::Borrowed("0"),
        _ if significant.len() == number.len() => Cow::Borrowed(digits),
        _ => Cow::Owned(format!("{sign}{significant}")),
    })
}

/// Integer as an index, saturated to 64 bits: both values are outside of every list.
fn index(digits: &str, at: usize) -> Result<i64, PathError> {
    let digits = canonical(digits, at)?;
    let farthest = if digits.starts_with('-') {
        i64::MIN
    } else {
        i64::MAX
    };
    Ok(digits.parse().unwrap_or(farthest))
}
