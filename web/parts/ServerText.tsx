/** Words of the server that the console has no translation of, marked as the English that they are. */
export const ServerText = ({ children }: { children: string }) => <span lang="en">{children}</span>;
