import { useQuery } from '@apollo/client/react';
import { useNavigate } from '@tanstack/react-router';

import { useIsSignedIn } from '../api/caller.ts';
import { ShopDocument } from '../api/documents/shop.ts';
import { signOut } from '../api/session.ts';
import { goToSignIn } from '../api/sign-in.ts';
import type { IconName } from '../parts/icons.tsx';
import { chooseLanguage, language, t } from '../text/text.ts';
import { TABS } from '../work/work.ts';
import { usePlaceName, usePlaces } from './places.ts';
import { toggleTheme } from './theme.ts';

/** Something that the palette does. */
export interface Command {
  readonly id: string;
  readonly name: string;
  readonly icon: IconName;
  /** The keys that do the same, in order. */
  readonly keys?: readonly string[];
  /** Found by these words too, which are not shown. */
  readonly words?: string;
  /** What is said of it beside its name, and when it was made. */
  readonly note?: string;
  readonly at?: string;
  /** Address of a small image in place of the icon. */
  readonly image?: string;
  readonly run: () => void;
}

/** Commands of one sort, below their heading. */
export interface CommandGroup {
  readonly value: string;
  readonly items: readonly Command[];
}

/** Everything that the palette can do for this caller: pages, kinds of work, templates, actions. */
export function useCommands(showKeys: () => void): readonly CommandGroup[] {
  const navigate = useNavigate();
  const isSignedIn = useIsSignedIn();
  const { data } = useQuery(ShopDocument);
  const toName = usePlaceName();
  const pages = usePlaces().map((place) => ({
    id: place.to,
    name: toName(place),
    icon: place.icon,
    keys: ['G', place.letter.toUpperCase()],
    run: () => void navigate({ to: place.to }),
  }));
  const kinds = TABS.map(({ tab, icon }) => ({
    id: `make ${tab}`,
    name: t('palette.make', { kind: t(`tab.${tab}`) }),
    icon,
    ...(tab === 'image' ? { keys: ['N'] } : {}),
    run: () => void navigate({ to: '/', search: { kind: tab } }),
  }));
  const templates = (data?.templatesConnection.edges ?? []).map(({ node: { code, name } }) => ({
    id: `template ${code}`,
    name,
    icon: 'shop' as const,
    run: () => void navigate({ to: '/shop', search: { template: code } }),
  }));
  const actions: readonly Command[] = [
    { id: 'theme', name: t('shell.theme'), icon: 'sun', keys: ['⇧', 'D'], run: toggleTheme },
    {
      id: 'language',
      name: language === 'zh' ? 'English' : '简体中文',
      icon: 'chat',
      run: () => chooseLanguage(language === 'zh' ? 'en' : 'zh'),
    },
    { id: 'keys', name: t('palette.keys'), icon: 'menu', keys: ['?'], run: showKeys },
    isSignedIn
      ? {
          id: 'leave',
          name: t('keys.signOut'),
          icon: 'close',
          run: () => void signOut().catch(() => undefined),
        }
      : { id: 'enter', name: t('signIn.signIn'), icon: 'avatar', run: () => void goToSignIn() },
  ];
  return [
    { value: t('palette.pages'), items: pages },
    { value: t('palette.kinds'), items: kinds },
    { value: t('palette.templates'), items: templates },
    { value: t('palette.actions'), items: actions },
  ].filter(({ items }) => items.length > 0);
}
