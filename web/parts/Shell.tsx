import { ActionIcon, Drawer, Kbd, Menu, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconBell,
  IconCheck,
  IconChevronDown,
  IconLayoutSidebar,
  IconLogout,
  IconMenu2,
  IconMoon,
  IconSearch,
  IconSelector,
  IconSun,
  IconUserCircle,
} from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ComponentType, type ReactNode, useState } from 'react';
import { t } from '../texts';
import { COMMAND } from './keys';
import { Avatar } from './Person';
import css from './Shell.module.css';

type Icon = ComponentType<{ size?: number; stroke?: number }>;
export type NavItem = { path: string; label: string; icon: Icon; badge?: number; due?: boolean };
export type NavGroup = { label?: string; items: NavItem[] };

type Props = {
  org: string;
  orgs: { id: string; name: string }[];
  onOrg: (id: string) => void;
  user: { name: string; role: string };
  groups: NavGroup[];
  /** The number of unread notifications; undefined without an inbox. */
  unread?: number;
  path: string;
  onSearch: () => void;
  dark: boolean;
  onDark: () => void;
  onSignOut: () => void;
  children: ReactNode;
};

const mark = (org: string) =>
  org
    .split(' ')
    .map((w) => w[0])
    .slice(0, 2)
    .join('');

function Groups({ groups, path, onGo }: Pick<Props, 'groups' | 'path'> & { onGo?: () => void }) {
  const [shut, setShut] = useState<string[]>([]);
  return (
    <nav className={css.nav} aria-label={t.nav.label}>
      {groups.map((g, n) => (
        <div key={n} className={css.group}>
          {g.label && (
            <button
              type="button"
              className={`plain ${css.label}`}
              aria-expanded={!shut.includes(g.label)}
              onClick={() => setShut((s) => (s.includes(g.label ?? '') ? s.filter((x) => x !== g.label) : [...s, g.label ?? '']))}
            >
              {g.label}
              <IconChevronDown size={13} />
            </button>
          )}
          {!(g.label && shut.includes(g.label)) &&
            g.items.map((i) => (
              <Link
                key={i.path}
                className={css.item}
                to={i.path}
                title={i.label}
                aria-current={path.split('/')[1] === i.path.split('/')[1] ? 'page' : undefined}
                onClick={onGo}
              >
                <i.icon size={17} stroke={1.6} />
                <span>{i.label}</span>
                {i.badge !== undefined && (
                  <span
                    className={css.badge}
                    data-due={i.due || undefined}
                    aria-label={i.due ? t.nav.overdue(i.badge) : t.nav.open_(i.badge)}
                    role="note"
                  >
                    {i.badge}
                  </span>
                )}
              </Link>
            ))}
        </div>
      ))}
    </nav>
  );
}

function Bell({ unread, path }: { unread: number; path: string }) {
  return (
    <Link
      to={'/inbox' as string}
      className={css.bell}
      aria-label={t.nav.inbox(unread)}
      title={t.nav.inbox(unread)}
      aria-current={path === '/inbox' ? 'page' : undefined}
    >
      <IconBell size={17} stroke={1.6} />
      {unread > 0 && <span className={css.count}>{unread > MAX_COUNT ? `${MAX_COUNT}+` : unread}</span>}
    </Link>
  );
}

const MAX_COUNT = 99;

export function Shell(p: Props) {
  const [narrow, setNarrow] = useState(false);
  const [sheet, { open, close }] = useDisclosure(false);

  const org = (
    <Menu position="bottom-start" width={240}>
      <Menu.Target>
        <button type="button" className={`plain ${css.org}`} aria-label={t.nav.organization(p.org)}>
          <span className={css.mark} aria-hidden="true">
            {mark(p.org)}
          </span>
          <span className="clip" style={{ flex: 1 }}>
            {p.org}
          </span>
          <IconSelector size={15} stroke={1.6} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t.nav.organizations}</Menu.Label>
        {p.orgs.map((o) => (
          <Menu.Item key={o.id} rightSection={o.name === p.org ? <IconCheck size={15} /> : null} onClick={() => p.onOrg(o.id)}>
            {o.name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );

  const user = (
    <div className={css.foot}>
      <Menu position="top-start" width={210}>
        <Menu.Target>
          <button type="button" className={`plain ${css.user}`} aria-label={t.nav.accountMenu(p.user.name)}>
            <Avatar name={p.user.name} size={26} />
            <span style={{ minWidth: 0 }}>
              <b className="clip">{p.user.name}</b>
              <small>{p.user.role}</small>
            </span>
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item component={Link} to="/settings/account" leftSection={<IconUserCircle size={16} stroke={1.6} />}>
            {t.nav.account}
          </Menu.Item>
          <Menu.Item
            leftSection={p.dark ? <IconSun size={16} stroke={1.6} /> : <IconMoon size={16} stroke={1.6} />}
            onClick={p.onDark}
          >
            {p.dark ? t.nav.light : t.nav.dark}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item leftSection={<IconLogout size={16} stroke={1.6} />} onClick={p.onSignOut}>
            {t.nav.signOut}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Tooltip label={narrow ? t.nav.wide : t.nav.narrow}>
        <ActionIcon aria-label={narrow ? t.nav.wide : t.nav.narrow} onClick={() => setNarrow(!narrow)} visibleFrom="md">
          <IconLayoutSidebar size={17} stroke={1.6} />
        </ActionIcon>
      </Tooltip>
    </div>
  );

  return (
    <div className={css.shell} data-shell data-narrow={narrow || undefined}>
      <a href="#main" className={css.skip}>
        {t.nav.skip}
      </a>
      <div className={css.rail} data-screen>
        {org}
        <nav className={css.find} aria-label={t.nav.bar}>
          <button type="button" className={`plain ${css.search}`} onClick={p.onSearch} aria-label={t.nav.searchLabel}>
            <IconSearch size={15} stroke={1.7} />
            <span>{t.nav.search}</span>
            <Kbd>{COMMAND === '⌘' ? '⌘K' : `${COMMAND} K`}</Kbd>
          </button>
          {p.unread !== undefined && <Bell unread={p.unread} path={p.path} />}
        </nav>
        <Groups groups={p.groups} path={p.path} />
        {user}
      </div>
      <nav className={css.top} aria-label={t.nav.bar}>
        <ActionIcon size={44} aria-label={t.nav.open} onClick={open}>
          <IconMenu2 size={20} stroke={1.6} />
        </ActionIcon>
        <b className="clip">{p.org}</b>
        {p.unread !== undefined && <Bell unread={p.unread} path={p.path} />}
        <ActionIcon size={44} aria-label={t.nav.searchLabel} onClick={p.onSearch}>
          <IconSearch size={19} stroke={1.6} />
        </ActionIcon>
      </nav>
      <Drawer
        opened={sheet}
        onClose={close}
        size={300}
        withCloseButton={false}
        padding="sm"
        classNames={{ body: css.sheet }}
        attributes={{ content: { 'aria-label': t.nav.sheet } }}
      >
        {org}
        <Groups groups={p.groups} path={p.path} onGo={close} />
        {user}
      </Drawer>
      <main id="main" className={css.main} tabIndex={-1}>
        {p.children}
      </main>
    </div>
  );
}
