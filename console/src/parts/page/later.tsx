import { type ComponentType, type ReactNode, useEffect, useState } from 'react';

import { loadLaterTexts, t } from '../../text/text.ts';
import { Icon } from '../icons.tsx';
import { Button } from '../looks/button.tsx';
import { Note, Page, Skeleton } from '../looks/panels.tsx';
import { isOldBuild } from './build.ts';

/** Milliseconds until code that could not be loaded is asked for again, and until a skeleton stands in its place. */
const AGAIN_MS = 3_000;
const SLOW_MS = 200;

interface LaterOptions<Props> {
  /** What is shown until it is there; nothing unless said otherwise. */
  readonly fallback?: (props: Props) => ReactNode;
  /** Called where it could not be loaded. */
  readonly onFailed?: () => void;
}

/** A component whose code is loaded when it is first drawn. */
export interface Later<Props> {
  (props: Props): ReactNode;
  /** Loads the code now, as somebody is about to need it. */
  readonly prepare: () => void;
}

/**
 * A component whose code is loaded when it is first drawn. A load that fails is said in its place and tried again, and
 * leaves the rest of the console as it is; where a newer console has been built, the page is loaded anew.
 */
export function later<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  { fallback, onFailed }: LaterOptions<Props> = {},
): Later<Props> {
  let loaded: ComponentType<Props> | null = null;
  const get = async () => {
    // Before the code, which has texts while it is loaded.
    await loadLaterTexts();
    return (loaded ??= await load());
  };
  function LoadedLater(props: Props) {
    const [Found, setFound] = useState<ComponentType<Props> | null>(() => loaded);
    const [hasFailed, setHasFailed] = useState(false);
    useEffect(() => {
      if (Found !== null) return undefined;
      let isStale = false;
      get().then(
        (component) => !isStale && setFound(() => component),
        async () => {
          const isOld = await isOldBuild();
          // Nobody waits for it any more.
          if (isStale) return;
          if (isOld && reload()) return;
          setHasFailed(true);
          onFailed?.();
        },
      );
      return () => {
        isStale = true;
      };
    }, [Found]);
    if (Found !== null) return <Found {...props} />;
    if (hasFailed) return <NotLoaded />;
    return fallback?.(props) ?? null;
  }
  return Object.assign(LoadedLater, { prepare: () => void get().catch(() => undefined) });
}

/**
 * How many of some parts to draw: `first`, and `step` more in each turn of the event loop. All at once would keep the
 * browser from answering a press for longer than anybody waits; what is around them may take a turn of its own.
 */
export function useIncrementalCount(all: number, step: number, first = step): number {
  const [count, setCount] = useState(first);
  useEffect(() => {
    if (count >= all) return undefined;
    const timer = setTimeout(() => setCount(count + step));
    return () => clearTimeout(timer);
  }, [count, all, step]);
  return count;
}

/** A page whose code is loaded when somebody goes there; a skeleton stands in its place where that is slow. */
export function laterPage(load: () => Promise<ComponentType>): Later<object> {
  return later(load, { fallback: () => <PageSkeleton /> });
}

function PageSkeleton() {
  const [isSlow, setIsSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return <Page aria-busy="true">{isSlow && <Skeleton className="h-80" />}</Page>;
}

/** When this tab was loaded anew by itself, and how long it rests after that. */
const RELOADED = 'kiln.reloaded';
const REST_MS = 60_000;

/** Loads the page anew, unless that was done a short while ago: what has not come by it is left to who presses. */
function reload(): boolean {
  if (Date.now() - Number(sessionStorage.getItem(RELOADED)) < REST_MS) return false;
  sessionStorage.setItem(RELOADED, String(Date.now()));
  location.reload();
  return true;
}

/** The browser may keep a failed load in mind: trying again loads the page, whose forms are kept. */
function NotLoaded() {
  useEffect(() => {
    const reloadIfThere = async () => {
      const isThere = await fetch(document.baseURI, { method: 'HEAD', cache: 'no-store' }).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isThere) reload();
    };
    const again = () => void reloadIfThere();
    const timer = setInterval(again, AGAIN_MS);
    addEventListener('online', again);
    return () => {
      clearInterval(timer);
      removeEventListener('online', again);
    };
  }, []);
  return (
    <Note tone="warn" className="m-4" role="status">
      <Icon name="warning" />
      <p className="flex-1 min-w-0">{t('page.notLoaded')}</p>
      <Button size="small" onClick={() => location.reload()}>
        {t('page.tryAgain')}
      </Button>
    </Note>
  );
}
