//! Reads conditions: from text to a tree.
//!
//! ```text
//! condition  = either { ("or" | "||") either }
//! either     = not { ("and" | "&&") not }
//! not        = ("not" | "!") not | lasting
//! lasting    = relation { "for" number ("s" | "ms") }
//! relation   = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//! sum        = product { ("+" | "-") product }
//! product    = factor { ("*" | "/") factor }
//! factor     = "-" factor | number | quantity | "fell" | "(" condition ")"
//!            | ("abs" | "min" | "max" | "rate") "(" sum { "," sum } ")"
//!            | "rises" "(" condition ")"
//! ```

use hardstand_error::{Error, ErrorKind, Result};

use super::{Quantities, Quantity};

/// A tree of numbers and truths; which one a node is, the parser has checked.
#[derive(Clone, Debug)]
pub(super) enum Tree {
    Number(f64),
    Quantity(Quantity),
    Negative(Box<Self>),
    Not(Box<Self>),
    /// A truth that has lasted for so many ns. The last number is the place of its memory, as in
    /// the next two.
    For(Box<Self>, u64, usize),
    /// A truth that begins.
    Rises(Box<Self>, usize),
    /// The rate of change of a number, per second.
    Rate(Box<Self>, usize),
    Pair(Box<Self>, Operator, Box<Self>),
    Call(Function, Vec<Self>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    Plus,
    Minus,
    Times,
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Abs,
    Min,
    Max,
}

use Operator::{
    And, Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Minus, NotEqual, Or, Over, Plus, Times,
};

/// Longer signs first: `<=` is not `<` and then `=`.
const SIGNS: [(&str, Operator); 12] = [
    ("||", Or),
    ("&&", And),
    ("<=", LessOrEqual),
    (">=", GreaterOrEqual),
    ("==", Equal),
    ("!=", NotEqual),
    ("<", Less),
    (">", Greater),
    ("+", Plus),
    ("-", Minus),
    ("*", Times),
    ("/", Over),
];
const WORDS: [(&str, Operator); 2] = [("or", Or), ("and", And)];
const FUNCTIONS: [(&str, Function); 3] =
    [("abs", Function::Abs), ("min", Function::Min), ("max", Function::Max)];

impl Operator {
    /// How tightly it binds; relations do not follow one another.
    const fn level(self) -> u8 {
        match self {
            Or => 1,
            And => 2,
            Less | LessOrEqual | Greater | GreaterOrEqual | Equal | NotEqual => RELATION,
            Plus | Minus => 4,
            Times | Over => 5,
        }
    }

    const fn takes_truths(self) -> bool {
        self.level() < RELATION
    }

    const fn gives_truth(self) -> bool {
        self.level() <= RELATION
    }
}

const RELATION: u8 = 3;
const DURATIONS: [(&str, f64); 2] = [("ms", 1e6), ("s", 1e9)];
/// Longest time that a condition may have to last, ns.
const LONGEST_NS: f64 = 1e12;
/// Parentheses, signs and calls within each other.
const DEPTH_MAX: usize = 64;
/// Operands: a tree of a row of them is as deep as the row is long.
const OPERANDS_MAX: usize = 1000;

impl Tree {
    const fn is_truth(&self) -> bool {
        match self {
            Self::Number(_)
            | Self::Quantity(_)
            | Self::Negative(_)
            | Self::Rate(..)
            | Self::Call(..) => false,
            Self::Not(_) | Self::For(..) | Self::Rises(..) => true,
            Self::Pair(_, operator, _) => operator.gives_truth(),
        }
    }
}

/// Reads a condition on `quantities`; also how many of its nodes remember.
///
/// # Errors
/// [`ErrorKind::Input`] with the place, and what was expected there.
pub(super) fn parse(text: &str, quantities: &Quantities) -> Result<(Tree, usize)> {
    let mut parser = Parser { text, at: 0, depth: 0, operands: 0, slots: 0, quantities };
    let tree = parser.pairs(1)?;
    parser.skip_spaces();
    if !parser.rest().is_empty() {
        return Err(parser.expected("an operator, such as <, and, +, or the end"));
    }
    parser.check(&tree, true)?;
    Ok((tree, parser.slots))
}

struct Parser<'a> {
    text: &'a str,
    /// Bytes read.
    at: usize,
    depth: usize,
    operands: usize,
    /// Nodes that remember, so far.
    slots: usize,
    quantities: &'a Quantities,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Operands, and operators that bind at least as tightly as `level`.
    fn pairs(&mut self, level: u8) -> Result<Tree> {
        let mut left = self.operand()?;
        loop {
            left = self.lasting(left)?;
            let operator = self.operator().filter(|(_, operator)| operator.level() >= level);
            let Some((length, operator)) = operator else { return Ok(left) };
            let before = self.at;
            self.at += length;
            let right = self.pairs(operator.level() + 1)?;
            for side in [&left, &right] {
                if side.is_truth() != operator.takes_truths() {
                    self.at = before;
                    return Err(self.mismatch(operator));
                }
            }
            left = Tree::Pair(Box::new(left), operator, Box::new(right));
        }
    }

    /// A truth, and for how long it must have lasted.
    fn lasting(&mut self, mut tree: Tree) -> Result<Tree> {
        self.skip_spaces();
        while tree.is_truth() && is_word(self.rest(), "for") {
            self.at += "for".len();
            self.skip_spaces();
            let Tree::Number(time) = self.number()? else { return Ok(tree) };
            self.skip_spaces();
            let rest = self.rest();
            let unit = DURATIONS.iter().find(|(unit, _)| is_word(rest, unit));
            let Some((unit, unit_ns)) = unit else {
                return Err(self.expected("a unit of time, s or ms, as in for 50 ms"));
            };
            let duration_ns = (time * unit_ns).round();
            if !(1.0..=LONGEST_NS).contains(&duration_ns) {
                let what = format!("a condition lasts for up to 1000 s, and not for {time} {unit}");
                return Err(self.refused(&what));
            }
            self.at += unit.len();
            self.count()?;
            tree = Tree::For(Box::new(tree), duration_ns as u64, self.slot());
            self.skip_spaces();
        }
        Ok(tree)
    }

    /// One more that makes the tree deeper.
    fn count(&mut self) -> Result<()> {
        self.operands += 1;
        if self.operands > OPERANDS_MAX {
            return Err(self.refused(&format!("a condition has at most {OPERANDS_MAX} operands")));
        }
        Ok(())
    }

    /// The place of one more memory.
    const fn slot(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }

    fn operator(&mut self) -> Option<(usize, Operator)> {
        self.skip_spaces();
        let rest = self.rest();
        let sign = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign));
        let word = || WORDS.iter().find(|(word, _)| is_word(rest, word));
        sign.or_else(word).map(|(text, operator)| (text.len(), *operator))
    }

    fn operand(&mut self) -> Result<Tree> {
        self.skip_spaces();
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.expected(&format!("at most {DEPTH_MAX} of ( - ! within each other")));
        }
        self.count()?;
        let rest = self.rest();
        let tree = if self.skip("(") {
            let tree = self.pairs(1)?;
            self.require(")")?;
            tree
        } else if self.skip("-") {
            let tree = self.operand()?;
            self.check(&tree, false)?;
            Tree::Negative(Box::new(tree))
        } else if is_word(rest, "not") || rest.starts_with('!') {
            self.at += if rest.starts_with('!') { 1 } else { 3 };
            let tree = self.pairs(RELATION)?;
            self.check(&tree, true)?;
            Tree::Not(Box::new(tree))
        } else if rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            self.number()?
        } else {
            self.name()?
        };
        self.depth -= 1;
        Ok(tree)
    }

    fn number(&mut self) -> Result<Tree> {
        let rest = self.rest();
        let mut length = rest.len() - rest.trim_start_matches(|c| is_digit(c) || c == '.').len();
        let exponent = rest[length..].strip_prefix(['e', 'E']);
        if let Some(exponent) = exponent {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            let after = digits.trim_start_matches(is_digit);
            if after.len() < digits.len() {
                length = rest.len() - after.len();
            }
        }
        let number = rest[..length].parse::<f64>().ok().filter(|x| x.is_finite());
        let ends = !rest[length..].starts_with(is_name);
        let Some(number) = number.filter(|_| ends) else {
            return Err(self.expected("a number"));
        };
        self.at += length;
        Ok(Tree::Number(number))
    }

    /// A quantity or a function. Names of joints and the like may hold any character, so the
    /// longest known name counts.
    fn name(&mut self) -> Result<Tree> {
        let rest = self.rest();
        let fits = |q: &&Quantity| is_word(rest, &q.name);
        if let Some(found) = self.quantities.list().iter().filter(fits).max_by_key(|q| q.name.len())
        {
            self.at += found.name.len();
            return Ok(Tree::Quantity(found.clone()));
        }
        let length = rest.len() - rest.trim_start_matches(is_name).len();
        let name = &rest[..length];
        if length == 0 {
            return Err(self.expected("a number, a quantity or ("));
        }
        let after = rest[length..].trim_start();
        if after.starts_with('(') {
            return self.call(name);
        }
        let falls = self.quantities.falls();
        if let Some((word, text)) = falls.iter().find(|(word, _)| is_word(rest, word)) {
            return self.fell(word, text.as_deref());
        }
        if let Some(renamed) = self.quantities.find(name) {
            self.at += name.len();
            return Ok(Tree::Quantity(renamed.clone()));
        }
        let near = self.quantities.nearest(name).join(", ");
        Err(Error::new(
            ErrorKind::Input,
            format!(
                "condition: there is no quantity {name}; the nearest are {near}. `hardstand bisect \
                 LOG --list` shows all"
            ),
        ))
    }

    fn fell(&mut self, word: &str, text: Option<&str>) -> Result<Tree> {
        let quantities = self.quantities;
        let Some(text) = text else {
            return Err(self.refused("a robot whose base is fixed does not fall"));
        };
        let mut inner =
            Parser { text, at: 0, depth: self.depth, operands: 0, slots: 0, quantities };
        let tree = inner.pairs(1)?;
        self.at += word.len();
        Ok(tree)
    }

    fn call(&mut self, name: &str) -> Result<Tree> {
        if name == "rises" || name == "rate" {
            return self.change(name);
        }
        let Some((_, function)) = FUNCTIONS.iter().find(|(n, _)| *n == name) else {
            let text = format!(
                "condition: there is no function {name}; there are abs, min, max, rate, rises"
            );
            return Err(Error::new(ErrorKind::Input, text));
        };
        self.at += name.len();
        self.require("(")?;
        let mut arguments = Vec::new();
        loop {
            let argument = self.pairs(1)?;
            self.check(&argument, false)?;
            arguments.push(argument);
            self.skip_spaces();
            if !self.skip(",") {
                break;
            }
        }
        self.require(")")?;
        if *function == Function::Abs && arguments.len() != 1 {
            return Err(self.expected("one argument of abs"));
        }
        Ok(Tree::Call(*function, arguments))
    }

    /// `rises(condition)` or `rate(number)`.
    fn change(&mut self, name: &str) -> Result<Tree> {
        self.at += name.len();
        self.require("(")?;
        let of = self.pairs(1)?;
        let rises = name == "rises";
        self.check(&of, rises)?;
        self.require(")")?;
        let (of, slot) = (Box::new(of), self.slot());
        Ok(if rises { Tree::Rises(of, slot) } else { Tree::Rate(of, slot) })
    }

    fn skip(&mut self, sign: &str) -> bool {
        let there = self.rest().starts_with(sign);
        self.at += if there { sign.len() } else { 0 };
        there
    }

    fn require(&mut self, sign: &str) -> Result<()> {
        self.skip_spaces();
        if self.skip(sign) { Ok(()) } else { Err(self.expected(sign)) }
    }

    fn check(&self, tree: &Tree, truth: bool) -> Result<()> {
        if tree.is_truth() == truth {
            return Ok(());
        }
        Err(self.refused(if truth {
            "a number is no condition: compare it, as in foot.FL.slip > 0.02"
        } else {
            "a condition is no number"
        }))
    }

    fn mismatch(&self, operator: Operator) -> Error {
        self.refused(if operator.takes_truths() {
            "both sides must be conditions, as in base.z < 0.2 and time > 1"
        } else if operator.level() == RELATION {
            "both sides must be numbers; write a < b and b < c for a < b < c"
        } else {
            "both sides must be numbers"
        })
    }

    fn expected(&self, what: &str) -> Error {
        self.refused(&format!("expected {what}"))
    }

    /// The error of what is read next.
    fn refused(&self, what: &str) -> Error {
        let column = self.text[..self.at].chars().count() + 1;
        let text = format!("condition {:?}, column {column}: {what}", self.text);
        Error::new(ErrorKind::Input, text)
    }
}

const fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// True if `text` begins with `word`, and the word ends there.
fn is_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_name))
}
