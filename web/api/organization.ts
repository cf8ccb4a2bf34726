const KEY = 'attestry.organization';

/** The organization that this browser looks at. */
export function organization(): string | null {
  return localStorage.getItem(KEY);
}

export function chooseOrganization(id: string | null) {
  if (id) localStorage.setItem(KEY, id);
  else localStorage.removeItem(KEY);
}
