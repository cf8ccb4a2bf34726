import type { QuestionWords } from '../questions';

/** The questions about the scope, by their keys. */
export const questions: QuestionWords = {
  people: {
    question: 'Wie viele Menschen arbeiten für das Unternehmen?',
    help: 'Angestellte, Gründer, Zeitarbeitskräfte und freie Mitarbeiter mit Benutzerkonto zählen mit. Welche Maßnahmen gelten, hängt davon nicht ab.',
  },
  offices: {
    question: 'Wie viele Büros nutzt das Unternehmen?',
    help: 'Gemietete Räume und feste Arbeitsplätze in geteilten Gebäuden zählen mit. 0, wenn niemand in einem Büro arbeitet.',
  },
  remote_work: {
    question: 'Arbeitet jemand außerhalb der Räume des Unternehmens?',
    help: 'Auch wenn es nur gelegentlich ist oder nur, um zu Hause oder unterwegs E-Mails zu lesen.',
  },
  own_servers: {
    question: 'Betreibt das Unternehmen eigene Server, Netzwerkräume oder andere Sicherheitsbereiche?',
    help: 'Server in einem Schrank, im Büro oder in gemieteten Racks zählen, ebenso Archive, die nur bestimmte Personen betreten dürfen. Virtuelle Server bei einem Cloud-Anbieter zählen nicht.',
  },
  cloud: {
    question: 'Nutzt das Unternehmen Cloud- oder Online-Dienste für die Arbeit?',
    help: 'Hosting, E-Mail, Dateiablage und andere Online-Software zählen. Fast jedes Unternehmen antwortet mit Ja.',
  },
  software: {
    question: 'Entwickelt das Unternehmen Software oder lässt es welche entwickeln?',
    help: 'Produkte, interne Werkzeuge und Skripte im Produktivbetrieb zählen, ganz gleich, wer sie schreibt.',
  },
  outside_developers: {
    question: 'Schreiben externe Entwickler Software für das Unternehmen?',
    help: 'Agenturen und Freiberufler mit eigener Arbeitsumgebung zählen. Wer wie ein Angestellter mit Geräten und Konten des Unternehmens arbeitet, zählt nicht.',
  },
  online_service: {
    question: 'Nutzen Kunden einen Online-Dienst, den das Unternehmen betreibt?',
    help: 'Zum Beispiel eine Webanwendung, eine Schnittstelle oder eine App, die einen Server des Unternehmens braucht.',
  },
  ai: {
    question: 'Werden KI-Werkzeuge bei der Arbeit verwendet, oder ist KI Teil des Produkts?',
    help: 'Chat-Assistenten, Programmierassistenten, Mitschriften von Besprechungen und KI-Funktionen in anderer Software zählen.',
  },
  personal_data: {
    question: 'Verarbeitet das Unternehmen personenbezogene Daten?',
    help: 'Daten von Beschäftigten, Bewerbern, Kunden oder Nutzern zählen. Fast jedes Unternehmen antwortet mit Ja.',
  },
  customer_personal_data: {
    question: 'Verarbeitet das Unternehmen personenbezogene Daten im Auftrag seiner Kunden?',
    help: 'Ja, wenn Kunden im Dienst des Unternehmens Daten ihrer Beschäftigten, Nutzer oder Patienten speichern.',
  },
  transfers: {
    question: 'Verlassen personenbezogene Daten den Europäischen Wirtschaftsraum?',
    help: 'Auch Zugriffe von außerhalb zählen, ebenso ein Lieferant oder ein Konzernunternehmen im Ausland. Im Zweifel Ja.',
  },
  outside_eu: {
    question: 'Bedient oder beobachtet das Unternehmen Menschen in der EU, ohne dort eine Niederlassung zu haben?',
    help: 'Ein Büro, eine Zweigstelle oder eine eigene Gesellschaft in einem EU-Land ist eine Niederlassung. Dann lautet die Antwort Nein.',
  },
  special_cases: {
    question: 'Was davon trifft zu?',
    help: 'Alles Zutreffende wählen, oder nichts. Ein Datenschutzbeauftragter ist Pflicht, wenn umfangreiche Überwachung oder sensible Daten zur Kerntätigkeit gehören, und nach manchen nationalen Gesetzen.',
    options: {
      children: 'Unsere Online-Dienste richten sich direkt an Kinder',
      automated_decisions: 'Software trifft allein Entscheidungen, die Menschen erheblich betreffen',
      dpo: 'Wir müssen oder wollen einen Datenschutzbeauftragten benennen',
      binding_rules: 'Unser Konzern übermittelt personenbezogene Daten auf Grundlage verbindlicher interner Vorschriften',
    },
  },
  us_health_data: {
    question: 'Verarbeitet das Unternehmen US-Gesundheitsdaten, und in welcher Rolle?',
    help: 'Gesundheitsdienstleister, Krankenversicherer und Clearingstellen sind „covered entities“; wer Patientendaten für sie verarbeitet, ist „business associate“. Gesundheitsdaten der eigenen Beschäftigten zählen nicht.',
    options: {
      none: 'Keine US-Gesundheitsdaten',
      covered_entity: 'Ja, nur als „covered entity“',
      business_associate: 'Ja, nur als „business associate“',
      both: 'Ja, in beiden Rollen, oder mit vertraglich übernommenen Pflichten einer „covered entity“',
    },
  },
  health_special_cases: {
    question: 'Was davon trifft auf das Unternehmen zu?',
    help: 'Alles Zutreffende wählen, oder nichts. Wer als Arbeitgeber nur eine Krankenversicherung für die Belegschaft bezahlt, wählt nichts.',
    options: {
      group_health_plan: 'Wir sind ein betrieblicher Gesundheitsplan, dessen Träger Gesundheitsdaten sieht',
      clearinghouse: 'Eine Clearingstelle für Gesundheitsdaten gehört zum Unternehmen',
    },
  },
  soc2_categories: {
    question: 'Welche Kategorien soll der SOC-2-Bericht außer Sicherheit abdecken?',
    help: 'Sicherheit gehört immer dazu. Die meisten ersten Berichte nehmen Verfügbarkeit und Vertraulichkeit hinzu, oder nichts.',
    options: {
      availability: 'Verfügbarkeit',
      confidentiality: 'Vertraulichkeit',
      processing_integrity: 'Integrität der Verarbeitung',
      privacy: 'Datenschutz',
    },
  },
};
