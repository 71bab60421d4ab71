import { Link, Outlet, useMatchRoute } from '@tanstack/react-router';
import { type Dispatch, type SetStateAction, useState } from 'react';

import { useConnection } from '../api/connection.ts';
import { useCaller, useCallerName } from '../api/use-caller.ts';
import { MODIFIER } from '../parts/controls/keys.ts';
import { Icon, Mark } from '../parts/icons.tsx';
import { later } from '../parts/page/later.tsx';
import { Empty } from '../parts/problem.tsx';
import { SignInButton } from '../parts/sign-in-button.tsx';
import { chooseLanguage, language, t } from '../text/text.ts';
import { CellChoice } from './cell-choice.tsx';
import { BUILD, CREATE, OPERATE, type Place, PLACES } from './places.ts';
import { signInProblem } from './sign-in-problem.ts';
import { toggleTheme } from './theme.ts';
import { useIsNarrow } from './use-is-narrow.ts';
import { usePlaceName } from './use-place-name.ts';
import { type Over, useShellKeys } from './use-shell-keys.ts';

/** The frame of every page: navigation at the side, a tab bar on phones, and the state of the connection. */

const Palette = later(async () => (await import('./palette.tsx')).Palette);
const KeyList = later(async () => (await import('./key-list.tsx')).KeyList);

const PHONE: readonly Place[] = [...CREATE.filter(({ name }) => name !== 'cast'), ...OPERATE.slice(0, 1)];

export function Shell() {
  const caller = useCaller();
  const nameOf = usePlaceName();
  const [over, setOver] = useState<Over>(null);
  const isGoing = useShellKeys(setOver);
  // There a key can be typed in, which is the other way in.
  const matches = useMatchRoute();
  // Whoever was given the address of a board needs no account.
  const isWayIn = matches({ to: '/keys' }) !== false || matches({ to: '/shared/$token' }) !== false;
  const isClosed = caller?.kind === 'ANONYMOUS' && !caller.mayStart && !isWayIn;
  return (
    <>
      <a className="skip" href="#main">
        {t('shell.skip')}
      </a>
      <div className="app">
        <nav className="nav" aria-label={t('shell.main')}>
          <Link className="brand" to="/" title="Kiln" aria-label="Kiln">
            <Mark />
            <span className="lbl">Kiln</span>
          </Link>
          <Jump onOpen={() => setOver('palette')} />
          <Places title={t('shell.create')} places={CREATE} />
          <Places title={t('shell.operate')} places={OPERATE} />
          <Places title={t('shell.build')} places={BUILD} />
          <NavFoot />
        </nav>
        <main id="main" tabIndex={-1}>
          <PhoneTop onPalette={() => setOver('palette')} />
          <ConnectionNote />
          <SignInNote />
          {isClosed ? <Closed /> : <Outlet />}
        </main>
      </div>
      <nav className="tabbar" aria-label={t('shell.phone')}>
        {PHONE.map((place) => (
          <Link
            key={place.to}
            to={place.to}
            activeOptions={{ exact: place.to === '/', includeSearch: false }}
          >
            <Icon name={place.icon} size={20} />
            {nameOf(place)}
          </Link>
        ))}
      </nav>
      <OverPage over={over} show={setOver} />
      <div role="status">{isGoing && <Letters />}</div>
    </>
  );
}

/** The palette or the list of keys, loaded when first asked for. */
function OverPage({ over, show }: { readonly over: Over; readonly show: Dispatch<SetStateAction<Over>> }) {
  // The palette closes after its command has asked for the list of keys: that one stays.
  const close = (which: Over) => () => show((now) => (now === which ? null : now));
  return (
    <>
      {over === 'palette' && <Palette onClose={close('palette')} onKeys={() => show('keys')} />}
      {over === 'keys' && <KeyList onClose={close('keys')} />}
    </>
  );
}

/** Which letters G waits for. */
function Letters() {
  const nameOf = usePlaceName();
  return (
    <p className="letters">
      <kbd>G</kbd>
      {PLACES.map((place) => (
        <span key={place.letter} className="flex items-center gap-2 min-w-0">
          <kbd>{place.letter.toUpperCase()}</kbd>
          {nameOf(place)}
        </span>
      ))}
    </p>
  );
}

/** Opens the palette; says which keys do. */
function Jump({ onOpen }: { readonly onOpen: () => void }) {
  const isNarrow = useIsNarrow();
  return (
    <button
      type="button"
      className="jump"
      title={t('palette.title')}
      aria-keyshortcuts="Control+K Meta+K"
      onClick={onOpen}
    >
      <Icon name="search" />
      <span>{t(isNarrow ? 'palette.short' : 'palette.title')}</span>
      <kbd aria-hidden="true">{MODIFIER}K</kbd>
    </button>
  );
}

function Places({ title, places }: { readonly title: string; readonly places: readonly Place[] }) {
  const nameOf = usePlaceName();
  const isNarrow = useIsNarrow();
  const shortNameOf = (place: Place) => (isNarrow ? t(`page.short.${place.name}`) : nameOf(place));
  return (
    <>
      <div className="nav-h">{title}</div>
      {places.map((place) => (
        <Link
          key={place.to}
          className="i"
          to={place.to}
          title={nameOf(place)}
          activeOptions={{ exact: place.to === '/', includeSearch: false }}
        >
          <Icon name={place.icon} />
          <span className="lbl">{shortNameOf(place)}</span>
        </Link>
      ))}
    </>
  );
}

function NavFoot() {
  const isNarrow = useIsNarrow();
  return (
    <div className="nav-foot">
      <CellChoice />
      <Who />
      <button type="button" className="who" title={t('shell.theme')} onClick={toggleTheme}>
        <Icon name="sun" />
        <span className="min-w-0 flex-1 text-muted max-md:flex-none">
          {t(isNarrow ? 'shell.themeShort' : 'shell.theme')}
        </span>
      </button>
      <button
        type="button"
        className="who"
        lang={language === 'zh' ? 'en' : 'zh-CN'}
        onClick={() => chooseLanguage(language === 'zh' ? 'en' : 'zh')}
      >
        <Icon name="chat" />
        <span className="min-w-0 flex-1 text-muted max-md:flex-none">
          {language === 'zh' ? 'English' : '简体中文'}
        </span>
      </button>
    </div>
  );
}

/** Who this is, with a link to their sessions and keys; a visitor may sign in. */
function Who() {
  const name = useCallerName();
  const nameOf = usePlaceName();
  if (name === undefined) return <SignInButton className="who" />;
  return (
    <Link className="who" to="/keys" title={nameOf({ name: 'keys' })}>
      <span className="ava" aria-hidden="true">
        {name.slice(0, 1).toUpperCase()}
      </span>
      <span className="min-w-0 flex-1 truncate max-md:flex-none">{name}</span>
    </Link>
  );
}

/** In the place of every page but the ways in, where nobody may do anything without signing in. */
function Closed() {
  return (
    <Empty title={t('signIn.needed')} text={t('signIn.neededText')}>
      <p className="flex items-center gap-2 min-w-0 flex-wrap">
        <SignInButton className="btn pri lg" />
        <Link className="btn lg" to="/keys">
          {t('keys.signIn')}
        </Link>
      </p>
    </Empty>
  );
}

/** Why the sign-in that has just come back has failed. */
function SignInNote() {
  const problem = signInProblem();
  return problem === null ? null : (
    <p className="note bad" role="alert">
      <Icon name="warning" />
      {problem}
    </p>
  );
}

/** What phones have at the top, as they have no side. */
function PhoneTop({ onPalette }: { readonly onPalette: () => void }) {
  const nameOf = usePlaceName();
  return (
    <div className="mtop">
      <Link className="text-14 font-normal flex items-center gap-2 min-w-0" to="/">
        <Mark /> Kiln
      </Link>
      <span className="ml-auto" />
      <button type="button" className="btn ghost" aria-label={t('palette.title')} onClick={onPalette}>
        <Icon name="search" size={20} />
      </button>
      {[...OPERATE.slice(1), ...BUILD].map((place) => (
        <Link key={place.to} className="btn ghost" to={place.to} aria-label={nameOf(place)}>
          <Icon name={place.icon} size={20} />
        </Link>
      ))}
      <button
        type="button"
        className="btn ghost"
        aria-label={language === 'zh' ? 'English' : '简体中文'}
        onClick={() => chooseLanguage(language === 'zh' ? 'en' : 'zh')}
      >
        <Icon name="chat" size={20} />
      </button>
      <button type="button" className="btn ghost" aria-label={t('shell.theme')} onClick={toggleTheme}>
        <Icon name="sun" size={20} />
      </button>
    </div>
  );
}

/** Said while it lasts; gone without a word when the connection is back. */
function ConnectionNote() {
  const connection = useConnection();
  return (
    <div role="status">
      {connection === 'lost' && (
        <p className="offline">
          <Icon name="warning" />
          {t('shell.lost')}
        </p>
      )}
    </div>
  );
}
