import type { Texts } from '../index';

const count = (number: number) => number.toLocaleString('de');

export const inbox: Texts['inbox'] = {
  title: 'Posteingang',
  unread: (number) => `${count(number)} ungelesen`,
  allRead: 'Alles gelesen',
  markAll: 'Alle als gelesen markieren',
  markRead: 'Als gelesen markieren',
  markUnread: 'Als ungelesen markieren',
  markReadOf: (text) => `Als gelesen markieren: ${text}`,
  markUnreadOf: (text) => `Als ungelesen markieren: ${text}`,
  columns: { text: 'Benachrichtigung', kind: 'Art', actor: 'Von', at: 'Eingang', read: 'Gelesen' },
  isUnread: 'Ungelesen',
  filters: { unread: 'Zustand', kind: 'Art' },
  kinds: {
    assigned: 'Zuweisung',
    dueSoon: 'Bald fällig',
    overdue: 'Überfällig',
    automations: 'Automatisierung',
    policies: 'Richtlinien',
    portal: 'Trust-Portal',
    mentioned: 'Erwähnung',
  },
  says: {
    assigned: (number) => `Ihnen ${number === 1 ? 'wurde 1 Eintrag' : `wurden ${count(number)} Einträge`} zugewiesen`,
    overdue: (number) => `${number === 1 ? '1 Eintrag von Ihnen ist' : `${count(number)} Einträge von Ihnen sind`} überfällig`,
    dueSoon: (number) => `${number === 1 ? '1 Eintrag von Ihnen ist' : `${count(number)} Einträge von Ihnen sind`} bald fällig`,
    automations: (number) => `${count(number)} ${number === 1 ? 'Meldung' : 'Meldungen'} Ihrer Automatisierungen`,
    policies: (number) =>
      number === 1
        ? '1 Richtlinie oder Erklärung wartet auf Sie oder hat sich geändert'
        : `${count(number)} Richtlinien oder Erklärungen warten auf Sie oder haben sich geändert`,
    portal: (number) => `${count(number)} ${number === 1 ? 'Meldung' : 'Meldungen'} des Trust-Portals`,
    comments: (number) => `Sie wurden in ${count(number)} ${number === 1 ? 'Kommentar' : 'Kommentaren'} erwähnt`,
    more: (first, more) => `${first} und ${count(more)} weitere`,
    due: (what, date) => `${what}, fällig am ${date}`,
    acceptanceEnds: (what, date) => `${what}: Akzeptanz endet am ${date}`,
    acceptanceEnded: (what, date) => `${what}: Akzeptanz endete am ${date}`,
    mentioned: (who, where) => `${who} hat Sie bei ${where} erwähnt`,
    approve: (what) => `Bitte freigeben: ${what}`,
    sign: (what) => `Bitte lesen und unterschreiben: ${what}`,
    review: (what) => `Überprüfung fällig: ${what}`,
    published: (what, version) => `${what} wurde als Version ${version} veröffentlicht`,
    approved: (what) => `Freigegeben: ${what}`,
    notApproved: (what) => `Nicht freigegeben: ${what}`,
    fails: (automation, task, why) => `„${automation}“ (${task}) ist fehlgeschlagen: ${why}`,
    passes: (automation, task) => `„${automation}“ (${task}) läuft wieder erfolgreich`,
    statement: (framework, version) => `Erklärung zur Anwendbarkeit für ${framework}, Version ${version}`,
    domainWorks: (domain) => `Die Domain ${domain} des Trust-Portals funktioniert wieder`,
    domainWrong: (domain) =>
      `Die DNS-Einträge von ${domain} sind falsch. Bleiben sie es 72 Stunden lang, verwendet das Trust-Portal diese Domain nicht mehr`,
    domainLost: (domain) => `Das Trust-Portal verwendet ${domain} nicht mehr: Die DNS-Einträge waren 72 Stunden lang falsch`,
    requested: (who) => `${who} bittet um Zugang zum Trust-Portal`,
  },
  empty: {
    title: 'Noch keine Benachrichtigungen',
    lead: 'Hier erfahren Sie, wenn Ihnen etwas zugewiesen wird, fällig wird oder auf Ihre Freigabe wartet und wenn Sie jemand erwähnt.',
  },
};
