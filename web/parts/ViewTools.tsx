import { Button } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import type { Search } from '../routes';
import { t } from '../texts';
import { iso } from './format';
import { SearchInput } from './SearchInput';
import type { useView } from './search';

type Go = ReturnType<typeof useView>['change'];

const monthAgo = () => {
  const date = new Date();
  date.setMonth(date.getMonth() - 1);
  return iso(date);
};

/** What changes how a register is looked at: search, and the way into the past. */
export function ViewTools({ view, go }: { view: Search; go: Go }) {
  return (
    <>
      <SearchInput value={view.q} onChange={(q) => void go({ q }, { replace: true })} />
      <PastButton view={view} go={go} />
    </>
  );
}

/** The way into the past, unless the page is there already. */
export function PastButton({ view, go }: { view: Search; go: Go }) {
  if (view.asOf) return null;
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<IconHistory size={15} stroke={1.6} />}
      onClick={() => void go({ asOf: monthAgo(), open: undefined })}
    >
      {t.filters.asOf}
    </Button>
  );
}
