import { useCaller } from '../api/use-caller.ts';
import { t } from '../text/text.ts';
import type { Place } from './places.ts';

/** What a page is called for this caller: who may neither make keys nor see people has an account there. */
export function usePlaceName(): (place: Pick<Place, 'name'>) => string {
  const caller = useCaller();
  const hasAccountAlone = caller?.kind === 'USER' && !caller.mayIssueKeys;
  return ({ name }) => t(name === 'keys' && hasAccountAlone ? 'page.account' : `page.${name}`);
}
