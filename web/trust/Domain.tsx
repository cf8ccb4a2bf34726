import { Button, TextInput } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { $api, type Schemas } from '../api/client';
import { Problem, words } from '../api/problem';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { CopyList } from '../parts/CopyList';
import { useConfirm } from '../parts/confirm';
import { SectionError } from '../parts/ErrorPage';
import { day } from '../parts/format';
import { Glyph } from '../parts/glyphs';
import { ServerText } from '../parts/ServerText';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { Waiting } from './Page';
import { type Form, PORTAL, type Settings } from './queries';
import css from './trust.module.css';

/** A domain of its own: named here, verified by DNS records, checked until they are right. */
export function Domain({ form }: { form: Form }) {
  const { can } = useMe();
  const { settings, draft } = form;
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const { ask, dialog } = useConfirm();
  if (!settings) return <Waiting />;
  const mayChange = can('trust-portal:update');
  const typed = draft.domain ?? settings.domain ?? '';
  const isNew = typed.trim() !== '' && typed.trim() !== settings.domain;

  async function use(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      if (await form.save({ domain: typed.trim() })) toast(t.trust.saved);
    } catch (error) {
      setProblem((error instanceof Problem && error.fields().domain) || words(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <div className={css.panel}>
      <p className={css.lead}>{t.trust.domain.lead}</p>
      <form className={css.domain} onSubmit={(event) => void use(event)}>
        <TextInput
          label={t.trust.domain.label}
          placeholder="trust.example.com"
          autoComplete="off"
          spellCheck={false}
          value={typed}
          readOnly={!mayChange}
          error={problem}
          onChange={(event) => form.set({ domain: event.currentTarget.value })}
        />
        {mayChange && (
          <Button
            type="submit"
            variant={settings.status === 'published' && isNew ? 'filled' : 'default'}
            disabled={!isNew}
            loading={busy}
          >
            {settings.domain ? t.trust.domain.change : t.trust.domain.use}
          </Button>
        )}
        {mayChange && settings.domain && (
          <Button
            variant="subtle"
            onClick={() =>
              ask({
                title: t.trust.domain.removeAsk(settings.domain ?? ''),
                text: t.trust.domain.removeText,
                verb: t.trust.domain.remove,
                act: () => form.save({ domain: null }),
              })
            }
          >
            {t.trust.domain.remove}
          </Button>
        )}
      </form>
      {settings.domain && <Status key={settings.domain} domain={settings.domain} settings={settings} />}
      {dialog}
    </div>
  );
}

function Status({ domain, settings }: { domain: string; settings: Settings }) {
  const {
    data,
    error,
    isFetching,
    refetch: again,
  } = $api.useQuery('get', '/v1/trust-portal/domain/status', { params: { query: { domain } } }, { staleTime: 60_000 });
  const check = async () => {
    await again();
    // What was found is remembered in the settings too.
    await refetch(`${PORTAL}/settings`);
  };
  if (error) return <SectionError error={error} onRetry={() => void check()} />;
  const isRight = data?.verified && !data.misconfigured;
  const broken = settings.domainBrokenAt;
  const verdict = isRight
    ? { title: t.trust.domain.verified, text: since(settings) }
    : broken
      ? { title: t.trust.domain.broken(day(broken.slice(0, 10))), text: t.trust.domain.brokenText }
      : { title: t.trust.domain.waiting, text: t.trust.domain.waitingText };
  return (
    <>
      <section className={css.verdict} aria-live="polite" aria-busy={isFetching}>
        <Glyph shape={isRight ? 'check' : broken ? 'alert' : 'clock'} tone={isRight ? 'ok' : broken ? 'bad' : 'mute'} size={16} />
        <div>
          <b>{verdict.title}</b>
          <p>{verdict.text}</p>
          {data?.misconfigured && data.cnameTarget && <p>{t.trust.domain.target(data.cnameTarget)}</p>}
        </div>
        <Button
          size="xs"
          variant="default"
          loading={isFetching}
          leftSection={<IconRefresh size={14} stroke={1.6} />}
          onClick={() => void check()}
        >
          {t.trust.domain.check}
        </Button>
      </section>
      {data && data.verification.length > 0 && (
        <section className={css.records}>
          <h2>{t.trust.domain.records}</h2>
          <p className="t2">{t.trust.domain.recordsLead}</p>
          {data.verification.map((record) => (
            <Dns key={`${record.type} ${record.domain}`} record={record} />
          ))}
        </section>
      )}
    </>
  );
}

const since = ({ domainVerifiedAt, url }: Settings) =>
  domainVerifiedAt ? `${url} · ${t.trust.domain.verifiedSince(day(domainVerifiedAt.slice(0, 10)))}` : url;

function Dns({ record }: { record: Schemas['DomainRecord'] }) {
  const texts = t.trust.domain;
  return (
    <CopyList
      items={[
        { name: texts.type, value: <b className="mono">{record.type}</b> },
        { name: texts.name, value: record.domain, copy: texts.copyName(record.type) },
        { name: texts.value, value: record.value, copy: texts.copyValue(record.type) },
        { name: texts.found, value: <ServerText>{record.reason}</ServerText> },
      ]}
    />
  );
}
