import { Button, Modal, MultiSelect, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type FormEvent, useState } from 'react';
import { Problem, sentence, words } from '../../api/problem';
import { useMe } from '../../api/session';
import { t } from '../../texts';
import { idsOf, type Kind, kinds, type Linked, READ } from './kinds';
import { optionsOf } from './Links';
import { useFound, type Verb } from './queries';

/** As many as one request takes. */
const MAX_RECORDS = 200;

type Props = {
  verb: Verb;
  /** The number of controls. */
  count: number;
  onSave: (links: object) => Promise<void>;
  onClose: () => void;
};

/** Chooses records of one kind, which many controls are linked to or unlinked from at once. */
export function BulkLinks({ verb, count, onSave, onClose }: Props) {
  const { can } = useMe();
  const text = t.controls.links.bulk;
  const readable = kinds.filter((one) => can(READ[one]));
  const [kind, setKind] = useState<Kind | undefined>(readable.includes('policy') ? 'policy' : readable[0]);
  const [chosen, setChosen] = useState<Linked[]>([]);
  const [letters, setLetters] = useState('');
  const [waited] = useDebouncedValue(letters, 200);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const found = useFound(kind ?? 'policy', waited, kind !== undefined);
  const ids = chosen.map(({ id }) => id);
  // A chosen one keeps its name when the search goes on.
  const all = [...chosen, ...found.filter(({ id }) => !ids.includes(id))];

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!kind) return;
    if (chosen.length === 0 || chosen.length > MAX_RECORDS)
      return setProblem(chosen.length === 0 ? text.none : text.most(MAX_RECORDS));
    setBusy(true);
    try {
      await onSave({ [idsOf[kind]]: ids });
      onClose();
    } catch (error) {
      const own = error instanceof Problem ? error.errors.find(({ field }) => field.includes(idsOf[kind])) : undefined;
      setProblem(own ? sentence(own.message) : words(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <Modal
      opened
      onClose={onClose}
      title={verb === 'link' ? text.linkTitle(count) : text.unlinkTitle(count)}
      centered
      closeButtonProps={{ 'aria-label': t.actions.close }}
    >
      <form onSubmit={(event) => void submit(event)} className="stack">
        <Select
          label={text.kind}
          allowDeselect={false}
          data={readable.map((value) => ({ value, label: text.kinds[value] }))}
          value={kind ?? null}
          onChange={(next) => {
            setKind(next as Kind);
            setChosen([]);
            setProblem(undefined);
          }}
        />
        <MultiSelect
          label={text.records}
          description={verb === 'link' ? text.linkHelp : text.unlinkHelp}
          placeholder={chosen.length === 0 ? text.choose : undefined}
          data-autofocus
          searchable
          searchValue={letters}
          onSearchChange={setLetters}
          nothingFoundMessage={t.controls.links.none}
          filter={({ options }) => options}
          data={optionsOf(all)}
          value={ids}
          error={problem}
          maxDropdownHeight={240}
          onChange={(next) => {
            setChosen(all.filter(({ id }) => next.includes(id)));
            setProblem(undefined);
          }}
        />
        <div className="buttons">
          <Button variant="default" onClick={onClose}>
            {t.actions.cancel}
          </Button>
          <Button type="submit" loading={isBusy}>
            {verb === 'link' ? text.linkTitle(count) : text.unlinkTitle(count)}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
