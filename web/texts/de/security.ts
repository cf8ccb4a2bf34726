import type { Texts } from '../index';

const n = (count: number, one: string, many: string) => `${count.toLocaleString('de')} ${count === 1 ? one : many}`;

export const security: Texts['security'] = {
  code: 'Code aus Ihrer Authenticator-App',
  codeHelp: 'Sechs Ziffern.',
  recoveryCode: 'Wiederherstellungscode',
  recoveryCodeHelp: 'Einer der zehn Codes, die Sie gesichert haben. Jeder gilt einmal.',
  confirm: 'Bestätigen',
  confirmTitle: 'Bestätigen Sie, dass Sie es sind',
  confirmText: 'Für diese Änderung ist eine Bestätigung nötig, die weniger als zehn Minuten alt ist.',
  byPasskey: 'Sie bestätigen mit Ihrem Passkey.',
  usePassword: 'Stattdessen das Passwort verwenden',
  usePasskey: 'Stattdessen einen Passkey verwenden',
  useCode: 'Stattdessen einen Code verwenden',
  sso: {
    by: (connection) => `Sie bestätigen, indem Sie sich in einem neuen Fenster mit ${connection} anmelden.`,
    use: (connection) => `Stattdessen mit ${connection} bestätigen`,
    away: (connection) =>
      `Melden Sie sich in dem geöffneten Fenster mit ${connection} an. Auf dieser Seite geht es danach von selbst weiter.`,
    again: 'Fenster erneut öffnen',
    blocked: 'Der Browser hat das neue Fenster blockiert. Erlauben Sie Pop-ups für diese Website, und versuchen Sie es erneut.',
    late: 'Das hat zu lange gedauert. Versuchen Sie es erneut.',
  },
  ceremony: {
    cancelled: 'Es wurde kein Passkey verwendet. Versuchen Sie es erneut, oder wählen Sie einen anderen Weg.',
    known: 'Dieses Gerät hat bereits einen Passkey für Ihr Konto.',
  },
  app: {
    title: 'Authenticator-App',
    lead: 'Ein Code aus einer App auf Ihrem Telefon, zusammen mit Ihrem Passwort.',
    setUp: 'App einrichten',
    panel: 'Authenticator-App einrichten',
    scan: 'Scannen Sie diesen Code mit Ihrer Authenticator-App, etwa der Ihres Passwortmanagers.',
    qr: 'QR-Code für die Authenticator-App',
    manual: 'Oder geben Sie diesen Schlüssel in die App ein:',
    copy: 'Schlüssel kopieren',
    here: 'In einer App auf diesem Gerät öffnen',
    codeHelp: 'Die sechs Ziffern, die die App gerade zeigt.',
    activate: 'Aktivieren',
    expired: 'Der Schlüssel ist abgelaufen. Es wurde nichts geändert.',
    again: 'Neu beginnen',
  },
  recovery: {
    title: 'Wiederherstellungscodes',
    text: 'Jeder Code ersetzt die App einmal, etwa wenn Sie Ihr Telefon verlieren. Sie werden nur jetzt angezeigt; bewahren Sie sie so auf, dass niemand sonst sie lesen kann.',
    head: (email, day) => `Attestry-Wiederherstellungscodes von ${email}, ${day}`,
    once: 'Jeder Code gilt einmal.',
    file: 'attestry-wiederherstellungscodes',
    print: 'Drucken',
    stored: 'Ich habe sie gesichert',
    left: (count) => `${n(count, 'Code', 'Codes')} übrig`,
  },
  passkeys: {
    title: 'Passkeys',
    lead: 'Melden Sie sich mit Fingerabdruck, Gesicht oder PIN an. Passwort und Code sind dann nicht nötig.',
    add: 'Passkey hinzufügen',
  },
};
