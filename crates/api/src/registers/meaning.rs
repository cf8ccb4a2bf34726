//! Lenient parsing of imported tables: synonyms of column names, enum values with capitals and spaces, members by
//! name or e-mail address, dates in spreadsheet formats.

use std::collections::HashMap;

use attestry_domain::date::Date;
use attestry_domain::id::MemberId;
use attestry_domain::text::Parse;

/// Normalized synonyms of column names and their fields; the first field that the register has is used.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("titel", &["title"]),
    ("name", &["name", "title"]),
    ("title", &["title", "name"]),
    ("bezeichnung", &["title", "name"]),
    ("details", &["description"]),
    ("summary", &["description"]),
    ("beschreibung", &["description"]),
    ("owner", &["assigneeId"]),
    ("assignee", &["assigneeId"]),
    ("assigneename", &["assigneeId"]),
    ("responsible", &["assigneeId"]),
    ("responsibleperson", &["assigneeId"]),
    ("zustandig", &["assigneeId"]),
    ("zuständig", &["assigneeId"]),
    ("verantwortlich", &["assigneeId"]),
    ("chance", &["likelihood", "inherentProbability"]),
    ("probability", &["likelihood", "inherentProbability"]),
    ("likelihood", &["likelihood", "inherentProbability"]),
    ("inherentlikelihood", &["likelihood", "inherentProbability"]),
    ("inherentprobability", &["inherentProbability", "likelihood"]),
    ("wahrscheinlichkeit", &["likelihood", "inherentProbability"]),
    ("eintrittswahrscheinlichkeit", &["likelihood", "inherentProbability"]),
    ("impact", &["impact", "inherentImpact"]),
    ("inherentimpact", &["inherentImpact", "impact"]),
    ("severity", &["impact", "inherentImpact"]),
    ("consequence", &["impact", "inherentImpact"]),
    ("auswirkung", &["impact", "inherentImpact"]),
    ("residuallikelihood", &["residualLikelihood", "residualProbability"]),
    ("residualprobability", &["residualProbability", "residualLikelihood"]),
    ("treatment", &["treatmentStrategy"]),
    ("response", &["treatmentStrategy"]),
    ("strategy", &["treatmentStrategy"]),
    ("behandlung", &["treatmentStrategy"]),
    ("treatmentplan", &["treatmentStrategyDescription"]),
    ("treatmentdescription", &["treatmentStrategyDescription"]),
    ("mitigation", &["treatmentStrategyDescription"]),
    ("review", &["reviewDate"]),
    ("nextreview", &["reviewDate"]),
    ("due", &["dueDate"]),
    ("deadline", &["dueDate"]),
    ("fallig", &["dueDate"]),
    ("fällig", &["dueDate"]),
    ("type", &["category"]),
    ("kategorie", &["category"]),
    ("dept", &["department"]),
    ("team", &["department"]),
    ("abteilung", &["department"]),
    ("state", &["status"]),
    ("url", &["website"]),
    ("web", &["website"]),
    ("homepage", &["website"]),
    ("recurrence", &["frequency"]),
    ("repeats", &["frequency"]),
    ("interval", &["frequency"]),
    ("subprocessor", &["isSubProcessor"]),
];

/// Normalizes a name: lower case, letters and digits only.
fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns the fields that a column may stand for, the most likely first. `one` is the name of a row: "Risk" and
/// "Risk name" mean the field that names it.
pub(super) fn fields_of(column: &str, one: &str, named_by: &'static str) -> Vec<&'static str> {
    let (column, one) = (bare(column), bare(one));
    let own = column.strip_prefix(one.as_str()).unwrap_or(&column);
    if own.is_empty() || matches!(own, "name" | "title") && own.len() < column.len() {
        return vec![named_by];
    }
    let known =
        |text: &str| SYNONYMS.iter().find(|(synonym, _)| *synonym == text).map(|(_, fields)| fields.to_vec());
    known(&column).or_else(|| known(own)).unwrap_or_default()
}

/// Finds an enum value in another spelling: "Very likely" is `very_likely`.
pub(super) fn word<'a>(cell: &str, words: &'a [String]) -> Option<&'a str> {
    let written = bare(cell);
    words.iter().find(|word| bare(word) == written).map(String::as_str)
}

/// Parses a boolean as people write it.
pub(super) fn flag(cell: &str) -> Option<bool> {
    match cell.to_lowercase().as_str() {
        "true" | "yes" | "y" | "x" | "1" | "ja" => Some(true),
        "false" | "no" | "n" | "0" | "nein" => Some(false),
        _ => None,
    }
}

const MONTHS: &[&str] = &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Parses a date: `2026-12-31`, `2026/12/31`, `31.12.2026`, `31 Dec 2026`, `December 31, 2026`, and `12/31/2026` if
/// only one of the two numbers can be a month.
pub(super) fn date(cell: &str) -> Result<Date, String> {
    if let Ok(date) = Date::parse(cell) {
        return Ok(date);
    }
    let wrong = || "must be a date such as 2026-11-15".to_owned();
    let parts: Vec<&str> =
        cell.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
    let [first, second, third] = parts[..] else { return Err(wrong()) };
    let month = |text: &str| {
        let text = text.to_lowercase();
        let is = |known: &&str| text.len() >= 3 && text.is_char_boundary(3) && text[..3] == **known;
        MONTHS.iter().position(is).map(|place| place + 1)
    };
    let number = |text: &str| text.parse::<usize>().map_err(|_| wrong());
    let (year, month, day) = match (month(first), month(second)) {
        (Some(month), _) => (number(third)?, month, number(second)?),
        (_, Some(month)) => (number(third)?, month, number(first)?),
        _ if first.len() == 4 => (number(first)?, number(second)?, number(third)?),
        _ => {
            let (one, other) = (number(first)?, number(second)?);
            match (cell.contains('/'), one > 12, other > 12) {
                (true, false, false) if one != other => {
                    return Err(format!(
                        "can be read in two ways; write it as {third}-{one:02}-{other:02} or {third}-{other:02}-{one:02}"
                    ));
                }
                (true, false, true) => (number(third)?, one, other),
                _ => (number(third)?, other, one),
            }
        }
    };
    Date::parse(&format!("{year:04}-{month:02}-{day:02}")).map_err(|_| wrong())
}

/// The members of an organization by name and e-mail address.
#[derive(Debug, Default)]
pub(super) struct Directory(HashMap<String, Vec<MemberId>>);

impl Directory {
    pub(super) fn new(people: impl Iterator<Item = (MemberId, String, String)>) -> Self {
        let mut known: HashMap<String, Vec<MemberId>> = HashMap::new();
        for (id, name, email) in people {
            for called in [name, email] {
                known.entry(called.trim().to_lowercase()).or_default().push(id);
            }
        }
        Self(known)
    }

    /// Finds a member by id, name or e-mail address.
    pub(super) fn find(&self, cell: &str) -> Result<MemberId, String> {
        if let Ok(id) = MemberId::parse(cell) {
            return Ok(id);
        }
        match self.0.get(&cell.trim().to_lowercase()).map(Vec::as_slice) {
            Some([id]) => Ok(*id),
            Some(_) => Err(format!("{cell:?} is the name of several people; use the e-mail address")),
            None => Err(format!(
                "{cell:?} is nobody in this organization; use a name, an e-mail address or an id"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_other_names() {
        assert_eq!(fields_of("Risk", "risk", "title"), ["title"]);
        assert_eq!(fields_of("Risk name", "risk", "title"), ["title"]);
        assert_eq!(fields_of("Owner", "risk", "title"), ["assigneeId"]);
        assert_eq!(fields_of("Risk owner", "risk", "title"), ["assigneeId"]);
        assert_eq!(fields_of("Chance", "risk", "title")[0], "likelihood");
        assert_eq!(fields_of("Next review", "vendor", "name"), ["reviewDate"]);
        assert!(fields_of("Colour", "risk", "title").is_empty());
    }

    #[test]
    fn words_are_read_in_any_letters() {
        let words = ["very_likely".to_owned(), "likely".to_owned()];
        assert_eq!(word("Very likely", &words), Some("very_likely"));
        assert_eq!(word("LIKELY", &words), Some("likely"));
        assert_eq!(word("maybe", &words), None);
        assert_eq!((flag("Yes"), flag("nein"), flag("perhaps")), (Some(true), Some(false), None));
    }

    #[test]
    fn dates_are_read_as_written() {
        for text in [
            "2026-12-31",
            "2026/12/31",
            "31.12.2026",
            "31/12/2026",
            "12/31/2026",
            "31 Dec 2026",
            "December 31, 2026",
            "31-Dec-2026",
        ] {
            assert_eq!(date(text).expect(text).to_string(), "2026-12-31", "{text}");
        }
        assert_eq!(date("03/03/2026").expect("one day").to_string(), "2026-03-03");
        assert!(date("03/04/2026").expect_err("two days").contains("2026-03-04 or 2026-04-03"));
        for text in ["", "soon", "31.13.2026", "2026", "30 Feb 2026", "٣/٤/٢٠٢٦"] {
            assert!(date(text).is_err(), "{text}");
        }
    }

    #[test]
    fn people_are_found_by_name_or_address() {
        let [ann, other, ben] = [1, 2, 3].map(MemberId::from_u128);
        let people =
            [(ann, "Ann", "ann@example.com"), (other, "Ann", "a@example.com"), (ben, "Ben", "b@example.com")];
        let known = Directory::new(
            people.into_iter().map(|(id, name, email)| (id, name.to_owned(), email.to_owned())),
        );
        assert_eq!(known.find("BEN "), Ok(ben));
        assert_eq!(known.find("ann@example.com"), Ok(ann));
        assert!(known.find("Ann").expect_err("two").contains("several"));
        assert!(known.find("Zoe").is_err());
    }
}
