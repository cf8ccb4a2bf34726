import type { Schemas } from '../api/client';
import { split } from '../parts/csv';

type Department = NonNullable<Schemas['InviteMember']['department']>;

/** Somebody to invite, as far as a line says. */
export type Guest = { email: string; name?: string; role?: string; department?: Department };
export type Reading = { guests: Guest[]; unread: string[]; twice: number };

const ADDRESS = /[^\s<>,;"'()]+@[^\s<>,;"'()]+/;
const DEPARTMENTS: readonly string[] = ['none', 'admin', 'gov', 'hr', 'it', 'itsm', 'qms'] satisfies Department[];
const isDepartment = (word: string): word is Department => DEPARTMENTS.includes(word);

/** What the columns of a table may be called. */
const COLUMNS: Record<string, keyof Guest> = {
  email: 'email',
  'e-mail': 'email',
  mail: 'email',
  address: 'email',
  name: 'name',
  role: 'role',
  roles: 'role',
  department: 'department',
  rolle: 'role',
  rollen: 'role',
  abteilung: 'department',
};

/** Reads pasted lines or a table with a header: whom to invite, what could not be read, how many were there twice. */
export function read(text: string): Reading {
  const rows = split(text).filter((row) => row.some((cell) => cell.trim() !== ''));
  const header = rows[0]?.map((cell) => COLUMNS[cell.trim().toLowerCase()]) ?? [];
  const found = header.includes('email') ? rows.slice(1).map((row) => tabled(row, header)) : lines(text);
  const guests = new Map<string, Guest>();
  const unread: string[] = [];
  let twice = 0;
  for (const one of found) {
    if (typeof one === 'string') unread.push(one);
    else if (guests.has(one.email.toLowerCase())) twice += 1;
    else guests.set(one.email.toLowerCase(), one);
  }
  return { guests: [...guests.values()], unread, twice };
}

function tabled(row: string[], header: (keyof Guest | undefined)[]): Guest | string {
  const cell = (name: keyof Guest) => row[header.indexOf(name)]?.trim() ?? '';
  const email = ADDRESS.exec(cell('email'))?.[0];
  if (!email) return row.join(', ');
  const department = cell('department').toLowerCase();
  return {
    email,
    ...(cell('name') && { name: cell('name') }),
    ...(cell('role') && { role: cell('role').toLowerCase() }),
    ...(isDepartment(department) && { department }),
  };
}

/** Addresses with whatever stands between them; a name may stand before one. */
function lines(text: string): (Guest | string)[] {
  return text
    .split(/[\n;,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const email = ADDRESS.exec(line)?.[0];
      if (!email) return line;
      const name = line.slice(0, line.indexOf(email)).replaceAll(/[<>"]/g, ' ').trim();
      return name ? { email, name } : { email };
    });
}
