//! The words of all pages for portal visitors, in English and German.

use std::fmt::Display;

use attestry_app::portals::public::Form;
use attestry_domain::portals::Progress;
use attestry_http::request::preferences::listed;
use http::{HeaderMap, header};

/// A language of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    English,
    German,
}

/// Turns the catalogue into one method for each entry. An entry with parameters is formatted with them.
macro_rules! catalogue {
    ($($name:ident $(($($parameter:ident),+))?: $english:literal, $german:literal;)*) => {
        impl Words { $(catalogue!(@method $name $(($($parameter),+))? $english $german);)* }
    };
    (@method $name:ident $english:literal $german:literal) => {
        pub(crate) fn $name(self) -> &'static str {
            match self { Self::English => $english, Self::German => $german }
        }
    };
    (@method $name:ident ($($parameter:ident),+) $english:literal $german:literal) => {
        pub(crate) fn $name(self, $($parameter: impl Display),+) -> String {
            match self { Self::English => format!($english), Self::German => format!($german) }
        }
    };
}

catalogue! {
    language: "en", "de";

    // The page of a portal.
    title(name): "Security at {name} · Trust portal", "Sicherheit bei {name} · Trust-Portal";
    heading(name): "Security at {name}", "Sicherheit bei {name}";
    summary(name):
        "Security and compliance at {name}: frameworks, certificates, policies and sub-processors.",
        "Sicherheit und Compliance bei {name}: Rahmenwerke, Zertifikate, Richtlinien und Unterauftragsverarbeiter.";
    skip: "Skip to content", "Zum Inhalt springen";
    has_access: "Already have access?", "Sie haben schon Zugang?";
    questions_to: "Questions:", "Fragen:";
    started: "Started", "Begonnen";
    in_progress: "In progress", "In Arbeit";
    compliant: "Compliant", "Konform";
    frameworks: "Frameworks", "Rahmenwerke";
    documents: "Documents", "Dokumente";
    no_documents: "No documents can be requested yet.", "Noch lassen sich keine Dokumente anfragen.";
    certificate(title): "{title} certificate", "Zertifikat {title}";
    kind_certificate: "Certificate, PDF", "Zertifikat, PDF";
    kind_policy: "Policy, PDF", "Richtlinie, PDF";
    public: "public", "öffentlich";
    behind_nda: "after a confidentiality agreement", "nach einer Vertraulichkeitsvereinbarung";
    on_request: "on request", "auf Anfrage";
    download: "Download", "Herunterladen";
    download_of(title): "Download {title}", "{title} herunterladen";
    ask: "Request", "Anfragen";
    ask_for(title): "Request access to {title}", "Zugang zu {title} anfragen";
    sub_processors: "Sub-processors", "Unterauftragsverarbeiter";
    updates: "Updates", "Neuigkeiten";
    questions: "Questions", "Fragen";
    cloud: "Cloud", "Cloud";
    infrastructure: "Infrastructure", "Infrastruktur";
    software: "Software as a service", "Software as a Service";
    finance: "Finance", "Finanzen";
    marketing: "Marketing", "Marketing";
    sales: "Sales", "Vertrieb";
    hr: "Human resources", "Personal";
    other: "Other", "Sonstiges";

    // Its forms.
    request: "Request access", "Zugang anfragen";
    request_lead: "One request covers all documents.", "Eine Anfrage gilt für alle Dokumente.";
    name: "Your name", "Ihr Name";
    email: "Work email", "Geschäftliche E-Mail";
    company: "Company", "Unternehmen";
    purpose: "What you need them for", "Wofür Sie die Dokumente brauchen";
    optional: "(optional)", "(optional)";
    also: "Documents on request", "Dokumente auf Anfrage";
    request_note:
        "You will sign a confidentiality agreement first. Every page carries your name and email.",
        "Sie unterzeichnen zuerst eine Vertraulichkeitsvereinbarung. Jede Seite trägt Ihren Namen und Ihre E-Mail-Adresse.";
    requested:
        "Your request has arrived. The answer comes by email.",
        "Ihre Anfrage ist angekommen. Die Antwort kommt per E-Mail.";
    reclaim: "Already have access?", "Sie haben schon Zugang?";
    reclaim_lead:
        "A new link to the documents is sent to the address that has access.",
        "Ein neuer Link zu den Dokumenten geht an die Adresse, die Zugang hat.";
    reclaim_button: "Send me a link", "Link senden";
    reclaimed:
        "If this address has access, a link is on its way to it.",
        "Hat diese Adresse Zugang, ist ein Link an sie unterwegs.";
    subscribe: "Get updates", "Neuigkeiten erhalten";
    subscribe_lead:
        "An email whenever there is news on this page.",
        "Eine E-Mail, sobald es auf dieser Seite etwas Neues gibt.";
    subscribe_button: "Subscribe", "Abonnieren";
    subscribed:
        "Follow the link in the email to confirm the subscription.",
        "Bestätigen Sie das Abonnement mit dem Link in der E-Mail.";
    needs_script: "Sending this form needs JavaScript.", "Dieses Formular braucht JavaScript.";

    // Said by the script.
    unreachable:
        "The server did not answer. What you typed is still here; try again.",
        "Der Server hat nicht geantwortet. Ihre Eingaben sind noch da; versuchen Sie es erneut.";
    required: "Enter this.", "Diese Angabe fehlt.";
    invalid_email:
        "Enter an email address such as name@company.com.",
        "Geben Sie eine E-Mail-Adresse an, etwa name@firma.de.";
    not_accepted: "Tick the box to agree.", "Setzen Sie den Haken, um zuzustimmen.";
    preparing: "Preparing", "Wird vorbereitet";

    // Errors.
    missing: "Nothing here", "Nicht gefunden";
    missing_text:
        "There is no published trust portal at this address.",
        "Unter dieser Adresse gibt es kein veröffentlichtes Trust-Portal.";
    invalid_link: "This link cannot be used", "Dieser Link lässt sich nicht verwenden";
    unknown_link:
        "This link is not valid. Open it again from the email, or request access on the portal.",
        "Dieser Link ist ungültig. Öffnen Sie ihn noch einmal aus der E-Mail oder fragen Sie den Zugang auf dem Portal an.";
    expired_link:
        "This link has expired or has been withdrawn. Request access again on the portal.",
        "Dieser Link ist abgelaufen oder wurde zurückgezogen. Fragen Sie den Zugang auf dem Portal erneut an.";
    offline_link:
        "The organization has taken its trust portal offline, and this link with it. Ask the organization.",
        "Die Organisation hat ihr Trust-Portal abgeschaltet und damit auch diesen Link. Wenden Sie sich an die Organisation.";
    try_later:
        "The page cannot be shown now. Try again in a moment.",
        "Die Seite lässt sich gerade nicht anzeigen. Versuchen Sie es gleich noch einmal.";

    // The agreement.
    agreement: "Confidentiality agreement", "Vertraulichkeitsvereinbarung";
    agreement_for(company, name, email):
        "{company} asks {name} ({email}) to agree to this text.",
        "{company} bittet {name} ({email}), diesem Text zuzustimmen.";
    agreement_text: "Text of the agreement", "Text der Vereinbarung";
    sign: "Sign the agreement", "Vereinbarung unterzeichnen";
    lasts_one_day(until):
        "Access lasts 1 day from your signature. The link works until {until}.",
        "Der Zugang gilt ab Ihrer Unterschrift einen Tag. Der Link gilt bis zum {until}.";
    lasts(days, until):
        "Access lasts {days} days from your signature. The link works until {until}.",
        "Der Zugang gilt ab Ihrer Unterschrift {days} Tage. Der Link gilt bis zum {until}.";
    signed_before:
        "This agreement is signed already. Confirm it again to open the documents.",
        "Diese Vereinbarung ist schon unterzeichnet. Bestätigen Sie sie erneut, um die Dokumente zu öffnen.";
    full_name: "Full name", "Vor- und Nachname";
    signer_email: "Email", "E-Mail";
    signer_email_help:
        "The address that asked for access.",
        "Die Adresse, mit der der Zugang angefragt wurde.";
    agree: "I have read this text and agree to it", "Ich habe diesen Text gelesen und stimme ihm zu";
    sign_button: "Sign agreement", "Vereinbarung unterzeichnen";
    agreement_pdf: "Open as PDF", "Als PDF öffnen";
    signed: "Signed", "Unterzeichnet";
    signed_text:
        "You can read the documents now. The link has also been sent to you by email.",
        "Sie können die Dokumente jetzt lesen. Der Link wurde Ihnen auch per E-Mail gesendet.";
    open_documents: "Open the documents", "Dokumente öffnen";
    download_agreement: "Download the signed agreement", "Unterzeichnete Vereinbarung herunterladen";

    // Reading the documents.
    documents_of(company): "Documents of {company}", "Dokumente von {company}";
    reader(name, email, until):
        "For {name} ({email}), until {until}. Every page you download carries your name.",
        "Für {name} ({email}), bis {until}. Jede heruntergeladene Seite trägt Ihren Namen.";
    certificates: "Certificates", "Zertifikate";
    policies: "Policies", "Richtlinien";
    version(number, day): "Version {number}, {day}", "Version {number}, {day}";
    all_policies: "All policies as one PDF", "Alle Richtlinien in einem PDF";
    not_a_file:
        "Ask for it: this file cannot carry your name",
        "Auf Anfrage: Diese Datei kann Ihren Namen nicht tragen";
    nothing_to_read: "There are no documents yet.", "Es gibt noch keine Dokumente.";

    // Subscriptions.
    confirm: "Confirm your subscription", "Abonnement bestätigen";
    confirm_text: "You will get an email when there is news.", "Sie erhalten eine E-Mail, sobald es Neuigkeiten gibt.";
    confirm_button: "Confirm subscription", "Abonnement bestätigen";
    confirmed:
        "You are subscribed. Each email has a link to unsubscribe.",
        "Ihr Abonnement ist bestätigt. Jede E-Mail enthält einen Link zum Abbestellen.";
    leave: "Unsubscribe", "Abbestellen";
    leave_text:
        "You will get no more emails about news of this trust portal.",
        "Sie erhalten keine E-Mails über Neuigkeiten dieses Trust-Portals mehr.";
    left:
        "You are unsubscribed. Your address is forgotten.",
        "Ihr Abonnement ist beendet. Ihre Adresse wurde gelöscht.";
}

const MONTHS: [(&str, &str); 12] = [
    ("Jan", "Januar"),
    ("Feb", "Februar"),
    ("Mar", "März"),
    ("Apr", "April"),
    ("May", "Mai"),
    ("Jun", "Juni"),
    ("Jul", "Juli"),
    ("Aug", "August"),
    ("Sep", "September"),
    ("Oct", "Oktober"),
    ("Nov", "November"),
    ("Dec", "Dezember"),
];

impl Words {
    /// Returns the best language of `Accept-Language`; English if none matches.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let accepted = listed(headers, &header::ACCEPT_LANGUAGE).filter_map(|(tag, weight)| {
            match tag.split('-').next() {
                Some(tag) if tag.eq_ignore_ascii_case("de") => Some((Self::German, weight)),
                Some(tag) if tag.eq_ignore_ascii_case("en") => Some((Self::English, weight)),
                _ => None,
            }
        });
        // The first of equal weights wins.
        let best = accepted.fold(None, |best: Option<(Self, f32)>, next| match best {
            Some(best) if best.1 >= next.1 => Some(best),
            _ => Some(next),
        });
        best.map_or(Self::English, |(words, _)| words)
    }

    /// The form in which a portal's page is cached.
    pub(super) fn form(self) -> Form {
        match self {
            Self::English => Form::English,
            Self::German => Form::German,
        }
    }

    pub(super) fn progress(self, status: Progress) -> &'static str {
        match status {
            Progress::Started => self.started(),
            Progress::InProgress => self.in_progress(),
            Progress::Compliant => self.compliant(),
        }
    }

    /// Returns the name of a vendor category; an unknown category is returned unchanged.
    pub(super) fn category(self, word: &str) -> &str {
        match word {
            "cloud" => self.cloud(),
            "infrastructure" => self.infrastructure(),
            "software_as_a_service" => self.software(),
            "finance" => self.finance(),
            "marketing" => self.marketing(),
            "sales" => self.sales(),
            "hr" => self.hr(),
            "other" => self.other(),
            unknown => unknown,
        }
    }

    /// Formats a stored date, such as "15 Nov 2026".
    pub(super) fn day(self, date: &str) -> String {
        let mut parts = date.splitn(3, '-');
        let (year, month, day) = (parts.next(), parts.next(), parts.next());
        let number = |text: Option<&str>| text.and_then(|text| text.parse::<usize>().ok());
        let month = number(month).and_then(|month| MONTHS.get(month.checked_sub(1)?));
        match (year, month, number(day)) {
            (Some(year), Some((english, german)), Some(day)) => match self {
                Self::English => format!("{day} {english} {year}"),
                Self::German => format!("{day}. {german} {year}"),
            },
            _ => date.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(accepted: &'static str) -> &'static str {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_LANGUAGE, http::HeaderValue::from_static(accepted));
        Words::of(&headers).language()
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
        assert_eq!(Words::English.day("2026-11-05"), "5 Nov 2026");
        assert_eq!(Words::German.day("2026-03-15"), "15. März 2026");
        assert_eq!(Words::English.day("soon"), "soon");
    }
}
