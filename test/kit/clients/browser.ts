/** A browser as far as signing in needs one: it keeps cookies by origin and path-blind, and shows every redirect. */
export interface TestBrowser {
  /** Asks without following: what the address bar would do is the test's to decide. */
  open(url: string, options?: BrowserRequest): Promise<Response>;
  /** Opens, and follows redirects until an answer that is none, or until one leads to where `stop` says. */
  follow(url: string, stop?: (url: URL) => boolean, options?: BrowserRequest): Promise<Visit>;
  /** The cookies it keeps for an origin, by name. */
  cookies(origin: string): Map<string, string>;
}

interface BrowserRequest {
  /** Sent as a form. */
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Visit {
  /** Where the last redirect led, or what was opened. */
  readonly url: URL;
  /** The answer there; null when it was not gone to. */
  readonly response: Response | null;
}

const MAX_REDIRECTS = 20;

/** Makes a browser without any cookie. */
export function createBrowser(): TestBrowser {
  const jars = new Map<string, Map<string, string>>();
  const findJar = (origin: string): Map<string, string> => {
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };
  const open: TestBrowser['open'] = async (url, { form, headers = {} } = {}) => {
    const jar = findJar(new URL(url).origin);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { accept: 'text/html', ...(cookie === '' ? {} : { cookie }), ...headers },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) keep(jar, line);
    return response;
  };
  return {
    open,
    cookies: findJar,
    async follow(url, stop = () => false, options = {}) {
      let at = new URL(url);
      let response = await open(at.href, options);
      for (let count = 0; count < MAX_REDIRECTS; count += 1) {
        const location = response.headers.get('location');
        if (location === null) return { url: at, response };
        await response.body?.cancel();
        at = new URL(location, at);
        if (stop(at)) return { url: at, response: null };
        response = await open(at.href, options.headers === undefined ? {} : { headers: options.headers });
      }
      throw new Error(`more than ${MAX_REDIRECTS} redirects, the last to ${at.origin}${at.pathname}`);
    },
  };
}

function keep(jar: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
  const cut = pair.indexOf('=');
  const isOver = attributes.some(
    (attribute) => /^max-age=0$/i.test(attribute) || /^expires=thu, 01 jan 1970/i.test(attribute),
  );
  if (isOver) jar.delete(pair.slice(0, cut));
  else jar.set(pair.slice(0, cut), pair.slice(cut + 1));
}
