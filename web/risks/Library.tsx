import { Alert, Button, Checkbox, TextInput } from '@mantine/core';
import { useState } from 'react';
import { $api, api, type Schemas } from '../api/client';
import { useList } from '../api/lists';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { SectionError } from '../parts/ErrorPage';
import { Panel } from '../parts/Panel';
import { toast } from '../parts/toast';
import { t } from '../texts';
import css from './risks.module.css';

type LibraryRisk = Schemas['LibraryRisk'];
type Key = NonNullable<NonNullable<Schemas['CreateRisksFromLibrary']>['keys']>[number];

/** The risks that ship with the product and that the register does not have; what is chosen is added to it. */
export function Library({ onClose }: { onClose: () => void }) {
  const { library } = t.risks;
  const { data, error, refetch: again } = $api.useQuery('get', '/v1/risk-library', {});
  const have = new Set(useList('/v1/risks', {}, { page: 1000 }).rows.map(({ title }) => title));
  const [chosen, setChosen] = useState(new Set<string>());
  const [search, setSearch] = useState('');
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const all = data?.data ?? [];
  const open = all.filter(({ title }) => !have.has(title));
  const seen = open.filter((one) => `${one.title} ${one.description}`.toLowerCase().includes(search.trim().toLowerCase()));
  const seenChosen = seen.filter(({ key }) => chosen.has(key)).length;

  const toggle = (keys: string[], isChosen: boolean) => {
    const next = new Set(chosen);
    for (const key of keys) {
      if (isChosen) next.add(key);
      else next.delete(key);
    }
    setChosen(next);
  };

  async function add() {
    setBusy(true);
    setProblem(undefined);
    try {
      const { data: made } = await api.POST('/v1/risks/from-library', { body: { keys: [...chosen] as Key[] } });
      await refetch('/v1/risks', '/v1/controls');
      toast(library.done(made?.createdCount ?? 0));
      onClose();
    } catch (failure) {
      setProblem(words(failure));
      setBusy(false);
    }
  }

  return (
    <Panel title={library.title} onClose={onClose} isWide>
      <p className="t2">{library.text}</p>
      {error && <SectionError error={error} onRetry={() => void again()} />}
      {data && open.length === 0 && <p className={css.none}>{library.none}</p>}
      {open.length > 0 && (
        <>
          <div className={css.tools}>
            <Checkbox
              label={library.all(seen.length)}
              checked={seen.length > 0 && seenChosen === seen.length}
              indeterminate={seenChosen > 0 && seenChosen < seen.length}
              onChange={(event) =>
                toggle(
                  seen.map(({ key }) => key),
                  event.currentTarget.checked,
                )
              }
            />
            <TextInput
              aria-label={library.search}
              placeholder={library.search}
              size="xs"
              className={css.search}
              value={search}
              onChange={(event) => setSearch(event.currentTarget.value)}
            />
          </div>
          <ul>
            {seen.map((one) => (
              <Choice key={one.key} risk={one} checked={chosen.has(one.key)} onToggle={(next) => toggle([one.key], next)} />
            ))}
          </ul>
          {seen.length === 0 && <p className={css.none}>{t.filters.nothing}</p>}
          {problem && (
            <Alert color="red" variant="light" role="alert" mt={12}>
              {problem}
            </Alert>
          )}
          <div className={css.bar}>
            <Button variant="default" onClick={onClose}>
              {t.actions.cancel}
            </Button>
            <Button loading={busy} disabled={chosen.size === 0} onClick={() => void add()}>
              {library.add(chosen.size)}
            </Button>
          </div>
        </>
      )}
    </Panel>
  );
}

type ChoiceProps = { risk: LibraryRisk; checked: boolean; onToggle: (next: boolean) => void };

function Choice({ risk: { title, description, category, controlKeys }, checked, onToggle }: ChoiceProps) {
  return (
    <li className={css.risk}>
      <Checkbox aria-label={title} checked={checked} onChange={(event) => onToggle(event.currentTarget.checked)} mt={2} />
      <div>
        <details>
          <summary>{title}</summary>
          <p>{description}</p>
        </details>
        <small>
          {t.risks.category[category]} · {t.risks.library.controls(controlKeys.length)}
        </small>
      </div>
    </li>
  );
}
