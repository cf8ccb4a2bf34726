import { ActionIcon, Button, Menu, Tabs } from '@mantine/core';
import { IconCode, IconDots, IconListCheck, IconPlayerPlay, IconPlayerStop, IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useMe } from '../api/session';
import { useConfirm } from '../parts/confirm';
import { EmptyState } from '../parts/EmptyState';
import { SectionError } from '../parts/ErrorPage';
import { moment } from '../parts/format';
import { StatusPill } from '../parts/StatusPill';
import { useView } from '../parts/search';
import { t } from '../texts';
import css from './Automations.module.css';
import {
  type Automation,
  isOpen,
  remove,
  shownState,
  start,
  stop,
  type useAutomations,
  useRun,
  useRuns,
  useSeconds,
} from './automated';
import { Check } from './Check';
import page from './Detail.module.css';
import { Log } from './Log';
import { type Kind, NewAutomation } from './NewAutomation';
import { scheduleWords } from './Schedule';
import { Script, Versions } from './Script';
import { Settings } from './Settings';

type Props = { taskId: string; automations: ReturnType<typeof useAutomations> };

/** What gathers the evidence of a task by itself. */
export function Automations({ taskId, automations }: Props) {
  const { all, chosen, error, again } = automations;
  const { view, change } = useView();
  const { can } = useMe();
  const mayCreate = can('automation:create');
  const words = t.tasks.automations;
  const add = (kind: Kind | undefined) => void change({ add: kind }, { replace: kind === undefined });
  const kind: Kind = view.add === 'script' ? 'script' : 'check';
  return (
    <aside className={page.side} aria-label={words.title}>
      {error && <SectionError error={error} onRetry={() => void again()} />}
      {all.length === 0 && !error && (
        <EmptyState
          title={words.emptyTitle}
          lead={words.emptyLead}
          ways={[
            {
              icon: <IconListCheck size={18} stroke={1.6} />,
              label: words.check,
              hint: words.checkHint,
              onPick: () => add('check'),
            },
            {
              icon: <IconCode size={18} stroke={1.6} />,
              label: words.script,
              hint: words.scriptHint,
              onPick: () => add('script'),
            },
          ]}
        />
      )}
      {chosen && (
        <>
          <div className={css.head}>
            <h2>{words.title}</h2>
            {mayCreate && (
              <Button size="xs" variant="default" leftSection={<IconPlus size={14} stroke={1.6} />} onClick={() => add('check')}>
                {words.add}
              </Button>
            )}
          </div>
          <ul className={css.list}>
            {all.map((one) => (
              <li key={one.id}>
                <button
                  type="button"
                  className={`plain ${css.pick}`}
                  aria-current={one.id === chosen.id}
                  onClick={() => void change({ automation: one.id, run: undefined, part: undefined }, { replace: true })}
                >
                  <b className="clip">{one.name}</b>
                  <span className="clip">{one.isEnabled ? scheduleWords(one.schedule) : words.disabled}</span>
                </button>
              </li>
            ))}
          </ul>
          <Chosen key={chosen.id} automation={chosen} />
        </>
      )}
      {view.add && mayCreate && (
        <NewAutomation
          taskId={taskId}
          kind={kind}
          onKind={(next) => void change({ add: next }, { replace: true })}
          onClose={() => add(undefined)}
          onCreated={({ id }) =>
            void change({ add: undefined, automation: id, part: undefined, run: undefined }, { replace: true })
          }
        />
      )}
    </aside>
  );
}

function Chosen({ automation }: { automation: Automation }) {
  const { view, change } = useView();
  const { can } = useMe();
  const runs = useRuns(automation);
  const run = useRun(automation, runs.data?.[0]);
  const seconds = useSeconds(run?.startedAt, run?.status === 'RUNNING');
  const [busy, setBusy] = useState(false);
  const { ask, dialog } = useConfirm();
  const words = t.tasks.automations;
  const isRunning = isOpen(run);
  const first = automation.check ? 'check' : 'script';
  const parts = automation.check ? (['check', 'settings'] as const) : (['script', 'settings', 'versions'] as const);
  const part = parts.find((one) => one === view.part) ?? first;

  async function act(doing: Promise<unknown>) {
    setBusy(true);
    await doing;
    setBusy(false);
  }

  return (
    <>
      <div className={css.title}>
        <h3 className="clip">{automation.name}</h3>
        <span className="t3 num">
          {automation.check ? '' : automation.latestVersion ? words.version(automation.latestVersion) : words.noVersion}
        </span>
        <span className={css.acts}>
          {can('automation:run') && !isRunning && (
            <Button
              size="xs"
              variant="default"
              leftSection={<IconPlayerPlay size={14} stroke={1.6} />}
              loading={busy}
              disabled={automation.latestVersion === null && !automation.check}
              onClick={() => void act(start(automation))}
            >
              {t.tasks.runs.run}
            </Button>
          )}
          {can('automation:delete') && (
            <Menu position="bottom-end">
              <Menu.Target>
                <ActionIcon aria-label={words.more(automation.name)}>
                  <IconDots size={16} />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item
                  leftSection={<IconTrash size={15} stroke={1.6} />}
                  onClick={() =>
                    ask({
                      title: words.deleteAsk(automation.name),
                      text: words.deleteText,
                      verb: words.delete,
                      act: () => remove(automation),
                    })
                  }
                >
                  {words.delete}
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          )}
        </span>
      </div>
      <Tabs
        value={part}
        onChange={(next) => void change({ part: next === first ? undefined : (next ?? undefined) }, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List px={20}>
          {parts.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {words.tabs[one]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <div className={css.body}>
          <Tabs.Panel value="check">
            <Check automation={automation} />
          </Tabs.Panel>
          <Tabs.Panel value="script">
            <Script automation={automation} />
          </Tabs.Panel>
          <Tabs.Panel value="settings">
            <Settings automation={automation} />
          </Tabs.Panel>
          <Tabs.Panel value="versions">
            <Versions automation={automation} />
          </Tabs.Panel>
        </div>
      </Tabs>
      {run && (
        <section className={css.log} aria-label={t.tasks.runs.log}>
          <div className={css.logHead}>
            <h3>{t.tasks.runs.log}</h3>
            {run.status === 'RUNNING' ? (
              <span className={css.live}>{t.tasks.runs.live(seconds)}</span>
            ) : (
              <>
                <StatusPill {...shownState(run)} />
                <span className="t3">{moment(run.createdAt)}</span>
              </>
            )}
            {isRunning && can('automation:run') && (
              <Button
                size="xs"
                variant="default"
                ml="auto"
                leftSection={<IconPlayerStop size={14} stroke={1.6} />}
                loading={busy}
                onClick={() => void act(stop(automation, run))}
              >
                {t.tasks.runs.stop}
              </Button>
            )}
          </div>
          {run.evaluationReason && <p className="t2">{run.evaluationReason}</p>}
          <Log run={run} />
        </section>
      )}
      {dialog}
    </>
  );
}
