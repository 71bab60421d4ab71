import { useCaller } from '../api/caller.ts';
import type { IconName } from '../parts/icons.tsx';
import { t } from '../text/text.ts';

/** The pages of the console, in the order of the navigation. */
export interface Place {
  readonly to: string;
  readonly icon: IconName;
  readonly name:
    | 'studio'
    | 'cast'
    | 'gallery'
    | 'tasks'
    | 'shop'
    | 'models'
    | 'machines'
    | 'workflows'
    | 'usage'
    | 'keys'
    | 'start';
  /** The key that goes there after G. */
  readonly letter: string;
  /** Whether it says to others only that it is for administrators (default: no). */
  readonly isForAdministrators?: true;
}

/** Where things are made. */
export const CREATE: readonly Place[] = [
  { to: '/', icon: 'studio', name: 'studio', letter: 's' },
  { to: '/gallery', icon: 'gallery', name: 'gallery', letter: 'g' },
  { to: '/cast', icon: 'avatar', name: 'cast', letter: 'c' },
  { to: '/tasks', icon: 'tasks', name: 'tasks', letter: 't' },
  { to: '/shop', icon: 'shop', name: 'shop', letter: 'b' },
];

/** Where it is seen to. */
export const OPERATE: readonly Place[] = [
  { to: '/models', icon: 'models', name: 'models', letter: 'p' },
  { to: '/machines', icon: 'machine', name: 'machines', letter: 'm', isForAdministrators: true },
  { to: '/usage', icon: 'usage', name: 'usage', letter: 'u' },
  { to: '/keys', icon: 'keys', name: 'keys', letter: 'k' },
];

/** Where programs begin. */
export const BUILD: readonly Place[] = [
  { to: '/start', icon: 'start', name: 'start', letter: 'h' },
  { to: '/workflows', icon: 'comfy', name: 'workflows', letter: 'w' },
];

/** Every page. */
export const PLACES: readonly Place[] = [...CREATE, ...OPERATE, ...BUILD];

/** Those pages that are there for this caller; all of them while it is not known who that is. */
export function usePlaces(places: readonly Place[] = PLACES): readonly Place[] {
  const isOther = useCaller()?.mayAdministrate === false;
  return isOther ? places.filter(({ isForAdministrators = false }) => !isForAdministrators) : places;
}

/** What a page is called for this caller: who may neither make keys nor see people has an account there. */
export function usePlaceName(): (place: Pick<Place, 'name'>) => string {
  const caller = useCaller();
  const hasAccountAlone = caller?.kind === 'USER' && !caller.mayIssueKeys;
  return ({ name }) => t(name === 'keys' && hasAccountAlone ? 'page.account' : `page.${name}`);
}
