import { Link, Outlet, useMatchRoute } from '@tanstack/react-router';
import { type Dispatch, type SetStateAction, useState } from 'react';

import { useCaller, useCallerName } from '../api/caller.ts';
import { useConnection } from '../api/kiln.ts';
import { MODIFIER } from '../parts/controls/typing.ts';
import { Icon, Mark } from '../parts/icons.tsx';
import { Button, buttonLook } from '../parts/looks/button.tsx';
import { Row } from '../parts/looks/lines.tsx';
import { Note } from '../parts/looks/panels.tsx';
import { later, useIncrementalCount } from '../parts/page/later.tsx';
import { SignInButton, Empty } from '../parts/problem.tsx';
import { chooseLanguage, language, t } from '../text/text.ts';
import { CellChoice } from './cell-choice.tsx';
import { BUILD, CREATE, OPERATE, type Place, usePlaceName, usePlaces } from './places.ts';
import { signInProblem } from './sign-in-problem.ts';
import { toggleTheme } from './theme.ts';
import { type Over, takeTyped, useShellKeys } from './use-shell-keys.ts';
import { useIsNarrow, useIsPhone } from './use-width.ts';

/** The frame of every page: navigation at the side, a tab bar on phones, and the state of the connection. */

const Palette = later(async () => (await import('./palette.tsx')).Palette, {
  // Without it nobody takes the keys that are kept for it: they belong to the page again.
  onFailed: () => void takeTyped(),
});
const KeyList = later(async () => (await import('./key-list.tsx')).KeyList);

const PHONE: readonly Place[] = [...CREATE.filter(({ name }) => name !== 'cast'), ...OPERATE.slice(0, 1)];

export function Shell() {
  const caller = useCaller();
  const isPhone = useIsPhone();
  const [over, setOver] = useState<Over>(null);
  const openPalette = () => setOver('palette');
  const isGoing = useShellKeys(over, setOver);
  // There a key can be typed in, which is the other way in.
  const matches = useMatchRoute();
  // Whoever was given the address of a board needs no account.
  const isWayIn = matches({ to: '/keys' }) !== false || matches({ to: '/shared/$token' }) !== false;
  // After the router: the frame, the page, then what lies over it, each in a turn of the event loop of its own.
  const turns = useIncrementalCount(4, 1);
  const isClosed = caller?.kind === 'ANONYMOUS' && !caller.mayStart && !isWayIn;
  if (turns === 1) return null;
  return (
    <>
      <a
        className="fixed left-2 -top-12 z-99 bg-ink text-on-ink py-2 px-3 rounded-control focus:top-2"
        href="#main"
      >
        {t('shell.skip')}
      </a>
      <div className="grid grid-cols-[var(--nav-w)_minmax(0,1fr)] min-h-[100vh] 2xl:[--form-w:400px] 2xl:[--drawer-w:440px] sm:max-md:grid-cols-[var(--nav-w)_minmax(0,1fr)] sm:max-md:[--form-w:320px] sm:max-md:[--nav-w:72px] max-sm:block max-sm:pb-16">
        {!isPhone && <Side onPalette={openPalette} />}
        <main id="main" className="flex min-w-0 flex-col" tabIndex={-1}>
          {isPhone && <PhoneTop onPalette={openPalette} />}
          <ConnectionNote />
          <SignInNote />
          {turns > 2 && (isClosed ? <Closed /> : <Outlet />)}
        </main>
      </div>
      {isPhone && turns > 3 && <PhoneBar />}
      <OverPage over={over} show={setOver} />
      <div role="status">{isGoing && <Letters />}</div>
    </>
  );
}

/** The navigation at the side. */
function Side({ onPalette }: { readonly onPalette: () => void }) {
  return (
    <nav
      className="sticky top-0 h-[100vh] flex flex-col p-3 gap-1 overflow-y-auto border-r border-r-line bg-bg sm:max-md:p-1"
      aria-label={t('shell.main')}
    >
      <Link
        className="flex items-center gap-2 h-10 py-0 px-2 text-14 font-semibold [letter-spacing:-0.01em] sm:max-md:justify-center sm:max-md:p-0 [&_svg]:text-text"
        to="/"
        title="Kiln"
        aria-label="Kiln"
      >
        <Mark />
        <span className="sm:max-md:hidden">Kiln</span>
      </Link>
      <Jump onOpen={onPalette} />
      <Places title={t('shell.create')} places={CREATE} />
      <Places title={t('shell.operate')} places={OPERATE} />
      <Places title={t('shell.build')} places={BUILD} />
      <NavFoot />
    </nav>
  );
}

/** What phones have at the bottom in its place. */
function PhoneBar() {
  const toName = usePlaceName();
  return (
    <nav
      className="fixed inset-x-0 bottom-0 z-15 grid h-14 grid-cols-[repeat(5,1fr)] border-t border-t-line bg-surface pb-[env(safe-area-inset-bottom)]"
      aria-label={t('shell.phone')}
    >
      {PHONE.map((place) => (
        <Link
          key={place.to}
          className="flex flex-col items-center justify-center gap-0.5 text-11 font-normal text-muted aria-[current]:font-semibold aria-[current]:text-text"
          to={place.to}
          activeOptions={{ exact: place.to === '/', includeSearch: false }}
        >
          <Icon name={place.icon} size={20} />
          {toName(place)}
        </Link>
      ))}
    </nav>
  );
}

/** The palette or the list of keys, loaded when first asked for. */
function OverPage({ over, show }: { readonly over: Over; readonly show: Dispatch<SetStateAction<Over>> }) {
  // The palette closes after its command has asked for the list of keys: that one stays.
  const close = (which: Over) => () => show((now) => (now === which ? null : now));
  return (
    // A dialog has a place of its own; that it could not be loaded would stand below the page.
    <div className="fixed inset-x-4 bottom-4 z-(--z-toast) max-sm:bottom-16">
      {over === 'palette' && <Palette onClose={close('palette')} onKeys={() => show('keys')} />}
      {over === 'keys' && <KeyList onClose={close('keys')} />}
    </div>
  );
}

/** Which letters G waits for. */
function Letters() {
  const toName = usePlaceName();
  return (
    <p
      data-letters
      className="fixed top-auto right-4 bottom-4 left-4 [z-index:var(--z-toast)] w-[fit-content] my-0 mx-auto py-3 px-4 flex flex-wrap gap-y-2 gap-x-4 border border-line rounded-panel bg-surface shadow-[var(--shadow-2)]"
    >
      <kbd>G</kbd>
      {usePlaces().map((place) => (
        <Row key={place.letter} as="span">
          <kbd>{place.letter.toUpperCase()}</kbd>
          {toName(place)}
        </Row>
      ))}
    </p>
  );
}

/** In the narrow rail an icon has its name below it, small: nobody has to guess. */
const RAIL =
  'sm:max-md:h-auto sm:max-md:min-h-11 sm:max-md:flex-col sm:max-md:justify-center sm:max-md:gap-0.5 sm:max-md:px-0 ' +
  'sm:max-md:py-1 sm:max-md:text-center sm:max-md:text-11 sm:max-md:font-normal';

/** Opens the palette; says which keys do. */
function Jump({ onOpen }: { readonly onOpen: () => void }) {
  const isNarrow = useIsNarrow();
  return (
    <button
      type="button"
      className={`my-1 flex h-8 w-full items-center gap-2 rounded-control border border-line bg-surface px-2 whitespace-nowrap text-muted hover:border-line-strong ${RAIL}`}
      title={t('palette.title')}
      aria-keyshortcuts="Control+K Meta+K"
      onClick={onOpen}
    >
      <Icon name="search" />
      <span className="sm:max-md:max-w-full sm:max-md:truncate">
        {t(isNarrow ? 'palette.short' : 'palette.title')}
      </span>
      <kbd className="ml-auto sm:max-md:hidden" aria-hidden="true">
        {MODIFIER}K
      </kbd>
    </button>
  );
}

function Places({ title, places }: { readonly title: string; readonly places: readonly Place[] }) {
  const toName = usePlaceName();
  const isNarrow = useIsNarrow();
  const toShortName = (place: Place) => (isNarrow ? t(`page.short.${place.name}`) : toName(place));
  return (
    <>
      <div className="text-12 font-normal text-faint pt-4 pr-2 pb-1 pl-2 sm:max-md:hidden!">{title}</div>
      {usePlaces(places).map((place) => (
        <Link
          key={place.to}
          className={`flex h-8 items-center gap-2 rounded-control px-2 text-muted transition-[background-color] duration-(--fast) hover:bg-hover hover:text-text aria-[current]:bg-active aria-[current]:font-medium aria-[current]:text-text ${RAIL} sm:max-md:aria-[current]:font-medium`}
          data-place={place.name}
          to={place.to}
          title={toName(place)}
          activeOptions={{ exact: place.to === '/', includeSearch: false }}
        >
          <Icon name={place.icon} />
          <span className="sm:max-md:max-w-full sm:max-md:truncate">{toShortName(place)}</span>
        </Link>
      ))}
    </>
  );
}

const WHO = `flex min-h-10 w-full items-center gap-2 rounded-control px-2 py-1 hover:bg-hover ${RAIL}`;

function NavFoot() {
  const isNarrow = useIsNarrow();
  return (
    <div className="mt-auto flex flex-col gap-1 pt-3">
      <CellChoice />
      <Who />
      <button type="button" className={WHO} title={t('shell.theme')} onClick={toggleTheme}>
        <Icon name="sun" />
        <span className="min-w-0 flex-1 text-muted max-md:flex-none sm:max-md:max-w-full sm:max-md:truncate">
          {t(isNarrow ? 'shell.themeShort' : 'shell.theme')}
        </span>
      </button>
      <button
        type="button"
        className={WHO}
        lang={language === 'zh' ? 'en' : 'zh-CN'}
        onClick={() => chooseLanguage(language === 'zh' ? 'en' : 'zh')}
      >
        <Icon name="chat" />
        <span className="min-w-0 flex-1 text-muted max-md:flex-none sm:max-md:max-w-full sm:max-md:truncate">
          {language === 'zh' ? 'English' : '简体中文'}
        </span>
      </button>
    </div>
  );
}

/** Who this is, with a link to their sessions and keys; a visitor may sign in. */
function Who() {
  const name = useCallerName();
  const toName = usePlaceName();
  if (name === undefined) return <SignInButton className={WHO} />;
  return (
    <Link className={WHO} to="/keys" title={toName({ name: 'keys' })}>
      <span
        className="w-6 h-6 rounded-full bg-active grid place-items-center text-11 font-semibold flex-none"
        aria-hidden="true"
      >
        {name.slice(0, 1).toUpperCase()}
      </span>
      <span className="min-w-0 flex-1 truncate max-md:flex-none sm:max-md:max-w-full">{name}</span>
    </Link>
  );
}

/** In the place of every page but the ways in, where nobody may do anything without signing in. */
function Closed() {
  return (
    <Empty title={t('signIn.needed')} text={t('signIn.neededText')}>
      <Row as="p" wrap>
        <SignInButton className={buttonLook({ kind: 'primary', size: 'large' })} />
        <Link className={buttonLook({ size: 'large' })} to="/keys">
          {t('keys.signIn')}
        </Link>
      </Row>
    </Empty>
  );
}

/** Why the sign-in that has just come back has failed. */
function SignInNote() {
  const problem = signInProblem();
  return problem === null ? null : (
    <Note tone="bad" role="alert">
      <Icon name="warning" />
      {problem}
    </Note>
  );
}

/** What phones have at the top, as they have no side. */
function PhoneTop({ onPalette }: { readonly onPalette: () => void }) {
  const toName = usePlaceName();
  return (
    <div className="flex h-13 items-center border-b border-b-line pr-2 pl-4 [&_a]:whitespace-nowrap">
      <Link className="text-14 font-normal flex items-center gap-2 min-w-0" to="/">
        <Mark /> Kiln
      </Link>
      <span className="ml-auto" />
      <Button kind="ghost" icon aria-label={t('palette.title')} onClick={onPalette}>
        <Icon name="search" size={20} />
      </Button>
      {[...OPERATE.slice(1), ...BUILD].map((place) => (
        <Link
          key={place.to}
          className={buttonLook({ kind: 'ghost', icon: true })}
          to={place.to}
          aria-label={toName(place)}
        >
          <Icon name={place.icon} size={20} />
        </Link>
      ))}
      <Button
        kind="ghost"
        icon
        aria-label={language === 'zh' ? 'English' : '简体中文'}
        onClick={() => chooseLanguage(language === 'zh' ? 'en' : 'zh')}
      >
        <Icon name="chat" size={20} />
      </Button>
      <Button kind="ghost" icon aria-label={t('shell.theme')} onClick={toggleTheme}>
        <Icon name="sun" size={20} />
      </Button>
    </div>
  );
}

/** Said while it lasts; gone without a word when the connection is back. */
function ConnectionNote() {
  const connection = useConnection();
  return (
    <div role="status">
      {connection === 'lost' && (
        <p className="fixed top-16 left-[50%] [translate:-50%_0] [z-index:var(--z-toast)] max-w-[calc(100vw_-_32px)] rounded-panel shadow-[var(--shadow-2)] pointer-events-none flex items-center gap-3 py-2 px-4 bg-attention-bg text-text flex-wrap">
          <Icon name="warning" />
          {t('shell.lost')}
        </p>
      )}
    </div>
  );
}
