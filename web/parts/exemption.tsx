import { exempt, type Member } from '../api/people';
import { refetch } from '../api/query';
import { t } from '../texts';
import { useConfirm } from './confirm';
import { toast } from './toast';

/** Asks before an owner is exempt from single sign-on, or before that ends. */
export function useExemption() {
  const { ask, dialog } = useConfirm();
  const texts = t.people;
  const askTo = ({ id, user: { name } }: Member, isExempt: boolean) =>
    ask({
      ...(isExempt
        ? { title: texts.exemptAsk(name), text: texts.exemptText, verb: texts.exempt, isSafe: true }
        : { title: texts.endExemptionAsk(name), text: texts.endExemptionText, verb: texts.endExemption }),
      withIdentity: true,
      act: async () => {
        await exempt(id, isExempt);
        await refetch('/v1/people', '/v1/organization/sign-in-policy', '/v1/auth/security');
        toast(isExempt ? texts.exempted(name) : texts.exemptionEnded(name));
      },
    });
  return { exempt: (member: Member) => askTo(member, true), end: (member: Member) => askTo(member, false), dialog };
}
