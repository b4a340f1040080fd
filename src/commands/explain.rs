//! `layercake explain [RULE]`: a rule's page, or the list of all rules.

use crate::diagnostic::Rule;
use crate::error::{Error, ErrorKind};
use crate::near::nearest;
use crate::rules::{self, GROUPS, RULES};

/// The page of the rule of this name, to be read on a terminal; for one of
/// Pegleg's codes or a group, the rules that stand for it.
///
/// # Errors
/// Where there is none; the help says which name is nearly the same.
pub fn page(name: &str) -> Result<String, Error> {
    let Some(rule) = rules::find(name) else {
        let meant: Vec<&Rule> = rules::selected(name).ok_or_else(|| unknown(name))?;
        return Ok(lines(&meant));
    };
    let page = without_comments(rule.page);
    let (title, text) = page.split_once('\n').unwrap_or((&page, ""));
    Ok(format!("{title}\n\n{}: {}\n{text}", rule.level().as_str(), rule.summary))
}

/// One line for each rule: its name, its level, and what it finds.
pub fn list() -> String {
    lines(RULES)
}

fn lines(rules: &[&Rule]) -> String {
    let width = rules.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    let line = |rule: &&Rule| {
        let level = rule.level().as_str();
        format!("{:width$}  {level:7}  {}\n", rule.name, rule.summary)
    };
    rules.iter().map(line).collect()
}

fn unknown(name: &str) -> Error {
    let groups = GROUPS.iter().map(|(group, _)| *group);
    let near = nearest(name, RULES.iter().map(|rule| rule.name).chain(groups));
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`layercake explain` lists all rules".into(),
    };
    Error::new(ErrorKind::Usage, format!("there is no rule `{name}`")).with_help(help)
}

/// The page without its comments, which speak to its test.
fn without_comments(page: &str) -> String {
    let mut parts = page.split("<!--");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let after = part.split_once("-->").map_or("", |(_, after)| after);
        // A comment that had lines to itself leaves none behind.
        let after = if text.ends_with('\n') { after.trim_start_matches('\n') } else { after };
        text.push_str(after);
    }
    text
}
