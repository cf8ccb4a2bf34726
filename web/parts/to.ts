/** An address with its search, for a link: `/risks?open=rsk_1`. */
export function to(address: string) {
  const [path = '/', query] = address.split('?');
  return { to: path, search: Object.fromEntries(new URLSearchParams(query)) as never };
}
