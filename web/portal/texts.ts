/** What the script of the public pages says. What the server renders speaks for itself. */
const en = {
  unreachable: 'The server did not answer. What you typed is still here; try again.',
  required: 'Enter this.',
  email: 'Enter an email address such as name@company.com.',
  accept: 'Tick the box to agree.',
  optional: '(optional)',
  sending: 'Sending',
  loading: 'Loading',
  failedTitle: 'This link cannot be used',
  nda: {
    title: 'Confidentiality agreement',
    for: (company: string, name: string, email: string) => `${company} asks ${name} (${email}) to agree to this text.`,
    sign: 'Sign the agreement',
    lasts: (days: number) => `Access lasts ${days === 1 ? '1 day' : `${days} days`} from your signature.`,
    until: (day: string) => `The link works until ${day}.`,
    again: 'This agreement is signed already. Confirm it again to open the documents.',
    name: 'Full name',
    email: 'Email',
    emailHelp: 'The address that asked for access.',
    agree: 'I have read this text and agree to it',
    button: 'Sign agreement',
    pdf: 'Open as PDF',
    doneTitle: 'Signed',
    done: 'You can read the documents now. The link has also been sent to you by email.',
    open: 'Open the documents',
    download: 'Download the signed agreement',
    text: 'Text of the agreement',
  },
  access: {
    title: (company: string) => `Documents of ${company}`,
    lead: (name: string, email: string, day: string) =>
      `For ${name} (${email}), until ${day}. Every page you download carries your name.`,
    certificates: 'Certificates',
    policies: 'Policies',
    download: 'Download',
    downloadOf: (title: string) => `Download ${title}`,
    preparing: 'Preparing',
    all: 'All policies as one PDF',
    notAFile: 'Ask for it: this file cannot carry your name',
    version: (version: number, day: string) => `Version ${version}, ${day}`,
    nothing: 'There are no documents yet.',
  },
  confirm: {
    title: 'Confirm your subscription',
    text: 'You will get an email when there is news.',
    button: 'Confirm subscription',
    done: 'You are subscribed. Each email has a link to unsubscribe.',
  },
  leave: {
    title: 'Unsubscribe',
    text: 'You will get no more emails about news of this trust portal.',
    button: 'Unsubscribe',
    done: 'You are unsubscribed. Your address is forgotten.',
  },
};

export type Texts = typeof en;

const de: Texts = {
  unreachable: 'Der Server hat nicht geantwortet. Ihre Eingaben sind noch da; versuchen Sie es erneut.',
  required: 'Diese Angabe fehlt.',
  email: 'Geben Sie eine E-Mail-Adresse an, etwa name@firma.de.',
  accept: 'Setzen Sie den Haken, um zuzustimmen.',
  optional: '(optional)',
  sending: 'Wird gesendet',
  loading: 'Wird geladen',
  failedTitle: 'Dieser Link lässt sich nicht verwenden',
  nda: {
    title: 'Vertraulichkeitsvereinbarung',
    for: (company, name, email) => `${company} bittet ${name} (${email}), diesem Text zuzustimmen.`,
    sign: 'Vereinbarung unterzeichnen',
    lasts: (days) => `Der Zugang gilt ab Ihrer Unterschrift ${days === 1 ? 'einen Tag' : `${days} Tage`}.`,
    until: (day) => `Der Link gilt bis zum ${day}.`,
    again: 'Diese Vereinbarung ist schon unterzeichnet. Bestätigen Sie sie erneut, um die Dokumente zu öffnen.',
    name: 'Vor- und Nachname',
    email: 'E-Mail',
    emailHelp: 'Die Adresse, mit der der Zugang angefragt wurde.',
    agree: 'Ich habe diesen Text gelesen und stimme ihm zu',
    button: 'Vereinbarung unterzeichnen',
    pdf: 'Als PDF öffnen',
    doneTitle: 'Unterzeichnet',
    done: 'Sie können die Dokumente jetzt lesen. Der Link wurde Ihnen auch per E-Mail gesendet.',
    open: 'Dokumente öffnen',
    download: 'Unterzeichnete Vereinbarung herunterladen',
    text: 'Text der Vereinbarung',
  },
  access: {
    title: (company) => `Dokumente von ${company}`,
    lead: (name, email, day) => `Für ${name} (${email}), bis ${day}. Jede heruntergeladene Seite trägt Ihren Namen.`,
    certificates: 'Zertifikate',
    policies: 'Richtlinien',
    download: 'Herunterladen',
    downloadOf: (title) => `${title} herunterladen`,
    preparing: 'Wird vorbereitet',
    all: 'Alle Richtlinien in einem PDF',
    notAFile: 'Auf Anfrage: Diese Datei kann Ihren Namen nicht tragen',
    version: (version, day) => `Version ${version}, ${day}`,
    nothing: 'Es gibt noch keine Dokumente.',
  },
  confirm: {
    title: 'Abonnement bestätigen',
    text: 'Sie erhalten eine E-Mail, sobald es Neuigkeiten gibt.',
    button: 'Abonnement bestätigen',
    done: 'Ihr Abonnement ist bestätigt. Jede E-Mail enthält einen Link zum Abbestellen.',
  },
  leave: {
    title: 'Abbestellen',
    text: 'Sie erhalten keine E-Mails über Neuigkeiten dieses Trust-Portals mehr.',
    button: 'Abbestellen',
    done: 'Ihr Abonnement ist beendet. Ihre Adresse wurde gelöscht.',
  },
};

/** A page of the server is in a language already; the others follow the browser. */
function chosen(): 'en' | 'de' {
  if (!document.body.dataset.page) return document.documentElement.lang === 'de' ? 'de' : 'en';
  const known = navigator.languages.map((one) => one.split('-')[0]).find((one) => one === 'en' || one === 'de');
  return known === 'de' ? 'de' : 'en';
}

export const language = chosen();
export const t: Texts = language === 'de' ? de : en;

export function day(at: string): string {
  const locale = language === 'en' ? 'en-GB' : language;
  return new Date(at).toLocaleDateString(locale, { day: 'numeric', month: 'long', year: 'numeric' });
}
