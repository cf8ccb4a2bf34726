import { IconBooks, IconPlus, IconTableImport } from '@tabler/icons-react';
import { t } from '../../texts';
import { EmptyState } from '../EmptyState';
import { Score } from '../HeatMap';
import { Specimen } from '../Specimen';
import type { Definition } from './definition';

type Props = { d: Definition; mayCreate: boolean; onNew: () => void; onImport: () => void; onLibrary: () => void };

export function Empty({ d, mayCreate, onNew, onImport, onLibrary }: Props) {
  const { empty } = d.texts;
  const ways = [
    { icon: <IconPlus size={18} stroke={1.6} />, label: d.texts.new, hint: empty.newHint, keys: 'N', onPick: onNew },
    ...(d.library
      ? [{ icon: <IconBooks size={18} stroke={1.6} />, label: d.library.label, hint: d.library.hint, onPick: onLibrary }]
      : []),
    { icon: <IconTableImport size={18} stroke={1.6} />, label: t.actions.import, hint: empty.importHint, onPick: onImport },
  ];
  return (
    <EmptyState
      title={empty.title}
      lead={empty.lead}
      ways={mayCreate ? ways : []}
      specimen={
        <Specimen caption={empty.specimen} title={empty.specimenTitle} text={empty.specimenText} points={empty.points}>
          <p>
            <Score value={15} /> → <Score value={6} />
          </p>
        </Specimen>
      }
    />
  );
}
