import { Button, Checkbox } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import { useState } from 'react';
import { moment, utc } from '../../parts/format';
import { ServerText } from '../../parts/ServerText';
import { StatusPill } from '../../parts/StatusPill';
import { t } from '../../texts';
import { Fetched } from '../Section';
import settings from '../settings.module.css';
import css from './DirectoryRequests.module.css';
import { bodyText, isFailed, type Request, type Token } from './directory';
import { useDirectoryRequests } from './queries';

type Props = { tokens: Token[] };

/** The last requests of the identity provider, fetched once they are shown. */
export function DirectoryRequests({ tokens }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={`${settings.part} ${css.requests}`} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t.signIn.directory.requests.title}</summary>
      {isOpen && <Requests tokens={tokens} />}
    </details>
  );
}

function Requests({ tokens }: Props) {
  const list = useDirectoryRequests();
  const [isFailedOnly, setFailedOnly] = useState(false);
  const texts = t.signIn.directory.requests;
  const all = list.data?.pages.flatMap((page) => page?.data ?? []);
  return (
    <Fetched of={{ data: all, error: list.error, refetch: list.refetch }}>
      {(rows) => {
        if (rows.length === 0) return <p className="t3">{texts.none}</p>;
        const shown = isFailedOnly ? rows.filter(isFailed) : rows;
        return (
          <>
            <p className="t2">{texts.lead}</p>
            <Checkbox
              label={texts.onlyFailed}
              checked={isFailedOnly}
              onChange={(event) => setFailedOnly(event.currentTarget.checked)}
            />
            {shown.length === 0 ? (
              <p className="t3">{texts.noneFailed(rows.length)}</p>
            ) : (
              <ul className={css.list} aria-label={texts.title}>
                {shown.map((request) => (
                  <Line key={request.id} request={request} tokens={tokens} />
                ))}
              </ul>
            )}
            {list.hasNextPage && (
              <Button size="xs" variant="subtle" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
                {texts.more}
              </Button>
            )}
          </>
        );
      }}
    </Fetched>
  );
}

type LineProps = { request: Request; tokens: Token[] };

function Line({ request, tokens }: LineProps) {
  const [isOpen, setOpen] = useState(false);
  const { method, path, status, detail, at } = request;
  const state = isFailed(request) ? ({ tone: 'bad', shape: 'cross' } as const) : ({ tone: 'ok', shape: 'check' } as const);
  return (
    <li>
      <button type="button" className={`plain ${css.row}`} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <StatusPill label={String(status)} {...state} />
        <span className={css.what}>
          <span className="clip mono">
            {method} {path}
          </span>
          {detail && (
            <span className="clip t2">
              <ServerText>{detail}</ServerText>
            </span>
          )}
        </span>
        <time className="t3" dateTime={at} title={utc(at)}>
          {moment(at)}
        </time>
        <IconChevronRight size={14} aria-hidden="true" className={css.arrow} />
      </button>
      {isOpen && <Details request={request} tokens={tokens} />}
    </li>
  );
}

function Details({ request: { method, path, detail, at, tokenId, body }, tokens }: LineProps) {
  const texts = t.signIn.directory.requests;
  const token = tokens.find(({ id }) => id === tokenId);
  return (
    <div className={css.details}>
      {detail && (
        <p>
          <ServerText>{detail}</ServerText>
        </p>
      )}
      <p className="mono">
        {method} {path}
      </p>
      <p className="t3">
        {utc(at)} · {token ? texts.token(token.name) : texts.revoked}
      </p>
      {body === null ? (
        <p className="t3">{texts.noBody}</p>
      ) : (
        <pre className={css.body} tabIndex={0} aria-label={texts.body}>
          {bodyText(body)}
        </pre>
      )}
    </div>
  );
}
