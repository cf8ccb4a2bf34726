import { expect, test } from 'vitest';
import { read } from './parse';

test('addresses stand on lines, with commas or semicolons, with or without names', () => {
  const { guests } = read('ada@example.com, "Grace Hopper" <grace@example.com>;\n\nAlan Turing <alan@example.com>\n');
  expect(guests).toEqual([
    { email: 'ada@example.com' },
    { email: 'grace@example.com', name: 'Grace Hopper' },
    { email: 'alan@example.com', name: 'Alan Turing' },
  ]);
});

test('a table with a header names roles and departments', () => {
  const { guests, unread } = read('Name;E-Mail;Roles;Department\nAda;ada@example.com;"auditor,employee";IT\nNobody;;;\n');
  expect(guests).toEqual([{ email: 'ada@example.com', name: 'Ada', role: 'auditor,employee', department: 'it' }]);
  expect(unread).toEqual(['Nobody, , , ']);
});

test('what is no address is told, what is there twice is taken once', () => {
  expect(read('ada@example.com\nADA@example.com\nfinance team')).toEqual({
    guests: [{ email: 'ada@example.com' }],
    unread: ['finance team'],
    twice: 1,
  });
});
