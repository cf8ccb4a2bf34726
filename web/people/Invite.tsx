import { ActionIcon, Alert, Button, Progress, Select, Textarea } from '@mantine/core';
import { IconCopy } from '@tabler/icons-react';
import { type FormEvent, useMemo, useState } from 'react';
import type { Schemas } from '../api/client';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { useDraftForm } from '../parts/draftForm';
import { useDraft } from '../parts/drafts';
import { Panel } from '../parts/Panel';
import { StatusPill } from '../parts/StatusPill';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { invite } from './members';
import { type Guest, read } from './parse';
import css from './people.module.css';
import { Roles } from './Roles';

type Department = NonNullable<Guest['department']>;
/** What became of an invitation: still to be sent, sent (with a link where mail is only written), or refused. */
type Outcome = { guest: Guest; state: 'waiting' | 'sent' | 'failed'; link?: string | null; problem?: string };

type Draft = { text: string; role: string; department: Department };
const NONE: Draft = { text: '', role: 'employee', department: 'none' };

/** Invites one address or a list of them, each by itself: whoever cannot be invited does not keep out the rest. */
export function Invite({ onClose }: { onClose: (invited: boolean) => void }) {
  const [draft, setDraft, discard] = useDraft<Draft>('invite', NONE);
  const { text, role, department } = draft;
  const setText = (next: string) => setDraft({ ...draft, text: next });
  const [errors, setErrors] = useState<{ text?: string; role?: string }>({});
  const [outcomes, setOutcomes] = useState<Outcome[]>();
  const [busy, setBusy] = useState(false);
  const close = () => onClose(outcomes?.some(({ state }) => state === 'sent') ?? false);
  const { note, cancel, dialog } = useDraftForm({ isFilled: text.trim() !== '', discard, onClose: close });
  const reading = useMemo(() => read(text), [text]);
  const { form } = t.people;

  async function send(all: Outcome[]) {
    setBusy(true);
    const now = [...all];
    for (const [at, outcome] of all.entries()) {
      if (outcome.state === 'sent') continue;
      const { guest } = outcome;
      const body: Schemas['InviteMember'] = { department, ...guest, role: guest.role ?? role };
      try {
        const invited = await invite(body);
        now[at] = { guest, state: 'sent', link: invited?.invitationLink };
      } catch (problem) {
        now[at] = { guest, state: 'failed', problem: words(problem) };
      }
      setOutcomes([...now]);
    }
    setBusy(false);
    // Whoever is invited is not invited again.
    const rest = now.filter(({ state }) => state !== 'sent').map(({ guest }) => lineOf(guest));
    if (rest.length === 0) discard();
    else setText(rest.join('\n'));
    await refetch('/v1/people');
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    const wrong = {
      ...(reading.guests.length === 0 && { text: form.nobody }),
      ...(role === '' && { role: t.people.noRole }),
    };
    setErrors(wrong);
    if (Object.keys(wrong).length > 0) return;
    const all = reading.guests.map((guest): Outcome => ({ guest, state: 'waiting' }));
    setOutcomes(all);
    void send(all);
  }

  return (
    <Panel title={t.people.invite} onClose={close} closeOnClickOutside={!busy}>
      {outcomes ? (
        <Results
          outcomes={outcomes}
          busy={busy}
          onAgain={() => void send(outcomes)}
          onBack={() => setOutcomes(undefined)}
          onClose={close}
        />
      ) : (
        <form onSubmit={submit} className={css.form}>
          {note}
          <Textarea
            label={form.addresses}
            description={form.addressesHelp}
            placeholder={form.placeholder}
            error={errors.text}
            autosize
            minRows={4}
            maxRows={12}
            value={text}
            data-autofocus
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <label className={css.file}>
            {form.file}
            <input
              type="file"
              accept=".csv,.txt,text/csv,text/plain"
              onChange={(event) => {
                const file = event.currentTarget.files?.[0];
                if (file) void file.text().then(setText);
              }}
            />
          </label>
          <ReadSoFar reading={reading} />
          <Roles
            label={form.roles}
            help={form.rolesHelp}
            value={role}
            onChange={(next) => setDraft({ ...draft, role: next })}
            error={errors.role}
          />
          <Select
            label={form.department}
            data={Object.entries(t.departments).map(([value, label]) => ({ value, label }))}
            value={department}
            allowDeselect={false}
            onChange={(next) => setDraft({ ...draft, department: (next ?? 'none') as Department })}
          />
          <div className={css.buttons}>
            <Button variant="default" onClick={cancel}>
              {t.actions.cancel}
            </Button>
            <Button type="submit">{form.send(reading.guests.length)}</Button>
          </div>
        </form>
      )}
      {dialog}
    </Panel>
  );
}

const lineOf = ({ name, email }: Guest) => (name ? `${name} <${email}>` : email);

/** What the text was understood as, while it is typed. */
function ReadSoFar({ reading: { guests, unread, twice } }: { reading: ReturnType<typeof read> }) {
  const { form } = t.people;
  if (guests.length === 0 && unread.length === 0) return null;
  return (
    <div className={css.read} role="status">
      <p>{form.found(guests.length)}</p>
      {twice > 0 && <p>{form.twice(twice)}</p>}
      {unread.length > 0 && (
        <p className={css.bad}>
          {form.unread(unread.length)} {unread.slice(0, 5).join(' · ')}
        </p>
      )}
    </div>
  );
}

type ResultsProps = { outcomes: Outcome[]; busy: boolean; onAgain: () => void; onBack: () => void; onClose: () => void };

function Results({ outcomes, busy, onAgain, onBack, onClose }: ResultsProps) {
  const { form } = t.people;
  const done = outcomes.filter(({ state }) => state !== 'waiting').length;
  const failed = outcomes.filter(({ state }) => state === 'failed').length;
  const all = outcomes.length;
  return (
    <div className={css.form}>
      {busy ? (
        <div role="status">
          <p>{form.sending(done, all)}</p>
          <Progress value={(100 * done) / all} aria-label={form.progress} mt={8} />
        </div>
      ) : (
        <Alert color={failed ? 'red' : 'green'} variant="light" role="status">
          {failed ? form.someFailed(failed, all) : form.allDone(all)} {outcomes.some(({ link }) => link) && form.links}
        </Alert>
      )}
      <table className={css.results}>
        <caption className="hidden-visually">{form.results}</caption>
        <thead>
          <tr>
            <th scope="col">{form.person}</th>
            <th scope="col">{form.result}</th>
          </tr>
        </thead>
        <tbody>
          {outcomes.map((outcome) => (
            <tr key={outcome.guest.email}>
              <td>
                {outcome.guest.name && <b>{outcome.guest.name} </b>}
                <span className="t2">{outcome.guest.email}</span>
              </td>
              <td>
                <Result {...outcome} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {!busy && (
        <div className={css.buttons}>
          <Button variant="subtle" onClick={onBack}>
            {form.back}
          </Button>
          {failed > 0 && (
            <Button variant="default" onClick={onAgain}>
              {form.again}
            </Button>
          )}
          <Button onClick={onClose}>{form.done}</Button>
        </div>
      )}
    </div>
  );
}

function Result({ guest, state, link, problem }: Outcome) {
  const { form } = t.people;
  if (state === 'waiting') return <StatusPill label={form.waiting} tone="mute" shape="ring" />;
  if (state === 'failed') return <StatusPill label={problem ?? ''} tone="bad" shape="cross" />;
  return (
    <span className={css.sent}>
      <StatusPill label={form.invited} tone="ok" shape="check" />
      {link && (
        <ActionIcon
          aria-label={t.people.copyLinkOf(guest.email)}
          onClick={() => void navigator.clipboard.writeText(link).then(() => toast(t.actions.copied))}
        >
          <IconCopy size={15} stroke={1.6} />
        </ActionIcon>
      )}
    </span>
  );
}
