//! The texts of the public pages in all their languages. User content is not translated.

use attestry_app::portals::public::Form;
use attestry_domain::portals::Progress;
use attestry_http::request::preferences::listed;
use http::{HeaderMap, header};

pub(super) struct Words {
    pub(super) language: &'static str,
    pub(super) form: Form,
    pub(super) months: [&'static str; 12],
    pub(super) title: fn(&str) -> String,
    pub(super) heading: fn(&str) -> String,
    pub(super) summary: fn(&str) -> String,
    pub(super) skip: &'static str,
    pub(super) has_access: &'static str,
    pub(super) questions_to: &'static str,
    pub(super) started: &'static str,
    pub(super) in_progress: &'static str,
    pub(super) compliant: &'static str,
    pub(super) frameworks: &'static str,
    pub(super) documents: &'static str,
    pub(super) no_documents: &'static str,
    pub(super) certificate: fn(&str) -> String,
    pub(super) kind_certificate: &'static str,
    pub(super) kind_policy: &'static str,
    pub(super) public: &'static str,
    pub(super) behind_nda: &'static str,
    pub(super) on_request: &'static str,
    pub(super) download: &'static str,
    pub(super) download_of: fn(&str) -> String,
    pub(super) also: &'static str,
    pub(super) ask: &'static str,
    pub(super) ask_for: fn(&str) -> String,
    pub(super) sub_processors: &'static str,
    pub(super) categories: [(&'static str, &'static str); 8],
    pub(super) updates: &'static str,
    pub(super) questions: &'static str,
    pub(super) request: &'static str,
    pub(super) request_lead: &'static str,
    pub(super) name: &'static str,
    pub(super) email: &'static str,
    pub(super) company: &'static str,
    pub(super) purpose: &'static str,
    pub(super) optional: &'static str,
    pub(super) request_note: &'static str,
    pub(super) requested: &'static str,
    pub(super) reclaim: &'static str,
    pub(super) reclaim_lead: &'static str,
    pub(super) reclaim_button: &'static str,
    pub(super) reclaimed: &'static str,
    pub(super) subscribe: &'static str,
    pub(super) subscribe_lead: &'static str,
    pub(super) subscribe_button: &'static str,
    pub(super) subscribed: &'static str,
    pub(super) needs_script: &'static str,
    pub(super) missing: &'static str,
    pub(super) missing_text: &'static str,
}

impl Words {
    pub(super) fn progress(&self, status: Progress) -> &'static str {
        match status {
            Progress::Started => self.started,
            Progress::InProgress => self.in_progress,
            Progress::Compliant => self.compliant,
        }
    }

    /// Returns the name of a vendor category; an unknown category is returned unchanged.
    pub(super) fn category<'a>(&self, word: &'a str) -> &'a str {
        self.categories.iter().find(|(known, _)| *known == word).map_or(word, |(_, text)| *text)
    }

    /// Formats a stored date, such as "15 Nov 2026".
    pub(super) fn day(&self, date: &str) -> String {
        let mut parts = date.splitn(3, '-');
        let (year, month, day) = (parts.next(), parts.next(), parts.next());
        let number = |text: Option<&str>| text.and_then(|text| text.parse::<usize>().ok());
        let month = number(month).and_then(|month| self.months.get(month.checked_sub(1)?));
        match (year, month, number(day)) {
            (Some(year), Some(month), Some(day)) => format!("{day}{month} {year}"),
            _ => date.to_owned(),
        }
    }
}

static EN: Words = Words {
    language: "en",
    form: Form::English,
    months: [" Jan", " Feb", " Mar", " Apr", " May", " Jun", " Jul", " Aug", " Sep", " Oct", " Nov", " Dec"],
    title: |name| format!("Security at {name} · Trust portal"),
    heading: |name| format!("Security at {name}"),
    summary: |name| {
        format!("Security and compliance at {name}: frameworks, certificates, policies and sub-processors.")
    },
    skip: "Skip to content",
    has_access: "Already have access?",
    questions_to: "Questions:",
    started: "Started",
    in_progress: "In progress",
    compliant: "Compliant",
    frameworks: "Frameworks",
    documents: "Documents",
    no_documents: "No documents can be requested yet.",
    certificate: |title| format!("{title} certificate"),
    kind_certificate: "Certificate, PDF",
    kind_policy: "Policy, PDF",
    public: "public",
    behind_nda: "after a confidentiality agreement",
    on_request: "on request",
    download: "Download",
    download_of: |title| format!("Download {title}"),
    also: "Documents on request",
    ask: "Request",
    ask_for: |title| format!("Request access to {title}"),
    sub_processors: "Sub-processors",
    categories: [
        ("cloud", "Cloud"),
        ("infrastructure", "Infrastructure"),
        ("software_as_a_service", "Software as a service"),
        ("finance", "Finance"),
        ("marketing", "Marketing"),
        ("sales", "Sales"),
        ("hr", "Human resources"),
        ("other", "Other"),
    ],
    updates: "Updates",
    questions: "Questions",
    request: "Request access",
    request_lead: "One request covers all documents.",
    name: "Your name",
    email: "Work email",
    company: "Company",
    purpose: "What you need them for",
    optional: "(optional)",
    request_note: "You will sign a confidentiality agreement first. Every page carries your name and email.",
    requested: "Your request has arrived. The answer comes by email.",
    reclaim: "Already have access?",
    reclaim_lead: "A new link to the documents is sent to the address that has access.",
    reclaim_button: "Send me a link",
    reclaimed: "If this address has access, a link is on its way to it.",
    subscribe: "Get updates",
    subscribe_lead: "An email whenever there is news on this page.",
    subscribe_button: "Subscribe",
    subscribed: "Follow the link in the email to confirm the subscription.",
    needs_script: "Sending this form needs JavaScript.",
    missing: "Nothing here",
    missing_text: "There is no published trust portal at this address.",
};

static DE: Words = Words {
    language: "de",
    form: Form::German,
    months: [
        ". Januar",
        ". Februar",
        ". März",
        ". April",
        ". Mai",
        ". Juni",
        ". Juli",
        ". August",
        ". September",
        ". Oktober",
        ". November",
        ". Dezember",
    ],
    title: |name| format!("Sicherheit bei {name} · Trust-Portal"),
    heading: |name| format!("Sicherheit bei {name}"),
    summary: |name| {
        format!(
            "Sicherheit und Compliance bei {name}: Rahmenwerke, Zertifikate, Richtlinien und Unterauftragsverarbeiter."
        )
    },
    skip: "Zum Inhalt springen",
    has_access: "Sie haben schon Zugang?",
    questions_to: "Fragen:",
    started: "Begonnen",
    in_progress: "In Arbeit",
    compliant: "Konform",
    frameworks: "Rahmenwerke",
    documents: "Dokumente",
    no_documents: "Noch lassen sich keine Dokumente anfragen.",
    certificate: |title| format!("Zertifikat {title}"),
    kind_certificate: "Zertifikat, PDF",
    kind_policy: "Richtlinie, PDF",
    public: "öffentlich",
    behind_nda: "nach einer Vertraulichkeitsvereinbarung",
    on_request: "auf Anfrage",
    download: "Herunterladen",
    download_of: |title| format!("{title} herunterladen"),
    also: "Dokumente auf Anfrage",
    ask: "Anfragen",
    ask_for: |title| format!("Zugang zu {title} anfragen"),
    sub_processors: "Unterauftragsverarbeiter",
    categories: [
        ("cloud", "Cloud"),
        ("infrastructure", "Infrastruktur"),
        ("software_as_a_service", "Software as a Service"),
        ("finance", "Finanzen"),
        ("marketing", "Marketing"),
        ("sales", "Vertrieb"),
        ("hr", "Personal"),
        ("other", "Sonstiges"),
    ],
    updates: "Neuigkeiten",
    questions: "Fragen",
    request: "Zugang anfragen",
    request_lead: "Eine Anfrage gilt für alle Dokumente.",
    name: "Ihr Name",
    email: "Geschäftliche E-Mail",
    company: "Unternehmen",
    purpose: "Wofür Sie die Dokumente brauchen",
    optional: "(optional)",
    request_note: "Sie unterzeichnen zuerst eine Vertraulichkeitsvereinbarung. Jede Seite trägt Ihren Namen und Ihre E-Mail-Adresse.",
    requested: "Ihre Anfrage ist angekommen. Die Antwort kommt per E-Mail.",
    reclaim: "Sie haben schon Zugang?",
    reclaim_lead: "Ein neuer Link zu den Dokumenten geht an die Adresse, die Zugang hat.",
    reclaim_button: "Link senden",
    reclaimed: "Hat diese Adresse Zugang, ist ein Link an sie unterwegs.",
    subscribe: "Neuigkeiten erhalten",
    subscribe_lead: "Eine E-Mail, sobald es auf dieser Seite etwas Neues gibt.",
    subscribe_button: "Abonnieren",
    subscribed: "Bestätigen Sie das Abonnement mit dem Link in der E-Mail.",
    needs_script: "Dieses Formular braucht JavaScript.",
    missing: "Nicht gefunden",
    missing_text: "Unter dieser Adresse gibt es kein veröffentlichtes Trust-Portal.",
};

/// Returns the texts in the best language of `Accept-Language`; English if none matches.
pub(super) fn of(headers: &HeaderMap) -> &'static Words {
    let wanted =
        listed(headers, &header::ACCEPT_LANGUAGE).filter_map(|(tag, weight)| match tag.split('-').next() {
            Some(tag) if tag.eq_ignore_ascii_case("de") => Some((&DE, weight)),
            Some(tag) if tag.eq_ignore_ascii_case("en") => Some((&EN, weight)),
            _ => None,
        });
    // The first of equal weights wins.
    let best = wanted.fold(None, |best: Option<(&'static Words, f32)>, next| match best {
        Some(best) if best.1 >= next.1 => Some(best),
        _ => Some(next),
    });
    best.map_or(&EN, |(words, _)| words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(accepted: &'static str) -> &'static str {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_LANGUAGE, http::HeaderValue::from_static(accepted));
        of(&headers).language
    }

    #[test]
    fn a_language_is_chosen() {
        for (accepted, wanted) in [
            ("de-DE,de;q=0.9,en;q=0.8", "de"),
            ("en-GB,en;q=0.9,de;q=0.8", "en"),
            ("fr-FR,de;q=0.4,en;q=0.3", "de"),
            ("fr", "en"),
            ("de;q=0, en;q=0.1", "en"),
            ("en;q=0.5, DE", "de"),
            ("", "en"),
        ] {
            assert_eq!(language(accepted), wanted, "{accepted}");
        }
    }

    #[test]
    fn days_are_written_out() {
        assert_eq!(EN.day("2026-11-05"), "5 Nov 2026");
        assert_eq!(DE.day("2026-03-15"), "15. März 2026");
        assert_eq!(EN.day("soon"), "soon");
    }
}
