import { useMe } from '../../api/session';
import { CopyList } from '../../parts/CopyList';
import { StatusPill } from '../../parts/StatusPill';
import { Way, Ways } from '../../parts/Way';
import { t } from '../../texts';
import { Fetched, Section } from '../Section';
import css from '../settings.module.css';
import { DirectoryRequests } from './DirectoryRequests';
import { DirectoryRoles } from './DirectoryRoles';
import { DirectoryTokens } from './DirectoryTokens';
import { directoryState, type Group, missingForTokens, type Directory as Settings, type Token } from './directory';
import type { useDirectory } from './queries';
import type { MailDomain } from './sso';

type Props = { of: ReturnType<typeof useDirectory>; domains: MailDomain[]; exemptIds: string[] };

/** The directory, by which an identity provider manages people and groups: its state, its tokens and its roles. */
export function Directory({ of: all, domains, exemptIds }: Props) {
  const { can } = useMe();
  const texts = t.signIn.directory;
  return (
    <Section id="directory" title={texts.title} lead={texts.lead}>
      <Fetched of={all}>
        {({ directory, tokens, groups }) => (
          <>
            <State directory={directory} tokens={tokens} groups={groups} />
            <DirectoryTokens tokens={tokens} baseUrl={directory.baseUrl} missing={missingForTokens(domains, exemptIds)} />
            <DirectoryRoles directory={directory} groups={groups} />
            <DirectoryRequests tokens={tokens} />
            {can('identity:update') && <Hints />}
          </>
        )}
      </Fetched>
    </Section>
  );
}

type StateProps = { directory: Settings; tokens: Token[]; groups: Group[] };

function State({ directory, tokens, groups }: StateProps) {
  const texts = t.signIn.directory;
  const { advice, ...state } = directoryState(directory, tokens);
  const isUsed = directory.people > 0 || groups.length > 0;
  return (
    <div className={css.part}>
      <p className={css.pills}>
        <StatusPill {...state} /> {isUsed && <span className="t2">{texts.counts(directory.people, groups.length)}</span>}
      </p>
      {advice && <p className="t2">{advice}</p>}
      <CopyList items={[{ name: texts.address, value: directory.baseUrl, copy: texts.copyAddress }]} />
    </div>
  );
}

/** The fields of two identity providers in which the base URL and the token are entered. */
function Hints() {
  const { title, entra, okta } = t.signIn.directory.hints;
  return (
    <section className={css.part}>
      <h3>{title}</h3>
      <Ways>
        {[entra, okta].map(({ name, text }) => (
          <Way key={name} title={name} hint={text} />
        ))}
      </Ways>
    </section>
  );
}
