//! Words of commands that are printed for a shell.

/// A word as a shell reads it back.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panic")]
mod tests {
    use super::quoted;

    #[test]
    fn a_shell_reads_every_word_back() {
        for word in ["", "a b", "it's", "$HOME", "a\nb", "\"*\"", "~/x", "ä", "plain-1.0"] {
            let mut shell = std::process::Command::new("sh");
            let said = shell.args(["-c", &format!("printf %s {}", quoted(word))]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&said.stdout), word);
        }
    }
}
