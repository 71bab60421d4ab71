import { getDistDirectory, isSandboxFrame, renderAltair, SANDBOX_FRAME_CSP } from 'altair-static';
import { type Request, Router, static as serveStatic } from 'express';

import { DARK, HOUSE_BAR_STYLE, HOUSE_COLOURS, houseBar, LIGHT } from '../../platform/pages/house-style.ts';
import { createTrust } from '../request/client-address.ts';

/** The explorer at /explorer: Altair, served by this process. The browser may load nothing from elsewhere. */

/** Altair's scripts need inline parts and workers; data and blobs are its own. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "worker-src 'self' blob:",
  "connect-src 'self' ws: wss:",
  "frame-ancestors 'self'",
].join('; ');

/** The first tabs; the last of them is shown. */
const FIRST_TABS = [
  {
    initialName: 'tasks',
    initialQuery: `# Your own tasks. With the sandbox you are a user of this browser (see the script before requests); else put
# "Authorization": "Bearer ..." into the headers, with a service key or an access token.
query Tasks {
  tasks(first: 5) {
    totalCount
    edges {
      node {
        id
        state
        progress
        input {
          prompt
        }
        outputs {
          url
        }
      }
    }
  }
}
`,
  },
  {
    initialName: 'taskProgress',
    initialQuery: `# Follows the task whose id is in the variables, from its first entry to its end.
subscription TaskProgress($id: ID!) {
  taskProgress(id: $id) {
    seq
    state
    stage
    progress
    task {
      outputs {
        url
      }
    }
  }
}
`,
    initialVariables: '{ "id": "" }',
  },
  {
    initialName: 'createTask',
    initialQuery: `# Starts a task. Copy its id into the variables of the tab taskProgress.
mutation CreateTask {
  createTask(taskType: "tea", prompt: "a lighthouse at dawn", aspectRatio: "9:16") {
    id
    state
  }
}
`,
  },
] as const;

/** A theme of the console by the names that Altair's variables have. */
function altairColours({
  bg,
  hover,
  surface,
  text,
  dim,
  line,
}: typeof LIGHT): Readonly<Record<string, string>> {
  return {
    'theme-bg': bg,
    'theme-off-bg': hover,
    'header-bg': surface,
    'theme-font': text,
    'theme-off-font': dim,
    'theme-border': line,
    'theme-off-border': line,
    // White words stand on it in both themes.
    primary: LIGHT.link,
    secondary: LIGHT.link,
    tertiary: '#e5640f',
  };
}

/** Altair takes colours from its settings only after they were saved once: so they are its variables, each in both of its forms. */
function altairVariables(colours: Readonly<Record<string, string>>): string {
  const declared = Object.entries(colours).map(([name, colour]) => {
    const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
    return `--${name}-color:${colour}!important;--rgb-${name}:${parts.join(',')}!important`;
  });
  return `:root[class]{${declared.join(';')}}`;
}

/** The house's bar stands above Altair, whose own mark and greeting are left out. */
const STYLE = `${altairVariables(altairColours(LIGHT))}@media(prefers-color-scheme:dark){${altairVariables(altairColours(DARK))}}
${HOUSE_COLOURS}
${HOUSE_BAR_STYLE}
.house{box-sizing:border-box;height:44px;background:var(--surface);color:var(--text);font:600 14px/20px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
body{display:flex;flex-direction:column;height:100vh}app-root{flex:1;min-height:0}app-root .app-wrapper{height:100%!important}
.header__logo-wrapper,.loading-screen-logo-container,.query-result__none-art,app-tips{display:none!important}
.query-result__none-subtext{font-size:0!important}.query-result__none-subtext::after{content:"Send the request: its answer is shown here.";font-size:15px;font-weight:400}`;

const QUIET = {
  // The colours below go by the system's.
  theme: 'system',
  'banners.disable': true,
  disablePushNotification: true,
  'alert.disableUpdateNotification': true,
};

/** Uploads need a header that no other site can send. */
const HEADERS = { 'Apollo-Require-Preflight': 'true' };

/**
 * Before each request: a token of a user of the sandbox that this browser alone knows, so that pages of other sites, which
 * may sign in as well, can't be the same user. It is renewed when it ends within a minute.
 */
const signInScript = (
  basePath: string,
): string => `const kept = JSON.parse((await altair.storage.get('identity')) || '{}');
kept.user ??= Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
if (!(kept.until > Date.now())) {
  const code = 'visitor_' + kept.user + '-' + Date.now();
  const { data } = await altair.helpers.request('POST', '${basePath}/auth/wechat/token', { body: { code } });
  kept.token = data.access_token;
  kept.until = Date.now() + (data.expires_in - 60) * 1000;
  await altair.storage.set('identity', JSON.stringify(kept));
}
altair.helpers.setEnvironment('token', kept.token);
`;

/** Where the explorer is mounted. */
export interface ExplorerOptions {
  /** Path prefix of PUBLIC_URL, without a slash at its end: `` or `/kiln`. */
  readonly basePath: string;
  /** Addresses or CIDRs whose X-Forwarded-Proto is trusted. */
  readonly trustProxy: readonly string[];
  /** Whether requests sign in at the sandbox first, as a user of this browser. */
  readonly signsIn: boolean;
}

/** Makes the router to mount at `/explorer`. */
export function createExplorerPage({ basePath, trustProxy, signsIn }: ExplorerOptions): Router {
  const isTrusted = createTrust(trustProxy);
  const router = Router();
  router.use((request, response, next) => {
    response.setHeader('Content-Security-Policy', CONTENT_SECURITY_POLICY);
    if (isSandboxFrame(request.path)) response.setHeader('Content-Security-Policy', SANDBOX_FRAME_CSP);
    next();
  });
  router.get(['/', '/index.html'], (request, response) => {
    const isSecure =
      request.protocol === 'https' || (isTrusted(readPeer(request)) && isForwardedHttps(request));
    response
      .type('html')
      .send(renderPage({ basePath, signsIn }, graphqlAddress(request, { basePath, isSecure })));
  });
  router.use(serveStatic(getDistDirectory(), { index: false, maxAge: '1h' }));
  return router;
}

function readPeer({ socket }: Request): string {
  return socket.remoteAddress ?? '';
}

/** Whether the browser used https, as the proxies say. */
function isForwardedHttps({ headers }: Request): boolean {
  return /^\s*https\s*(,|$)/i.test(String(headers['x-forwarded-proto']));
}

function renderPage(
  { basePath, signsIn }: Pick<ExplorerOptions, 'basePath' | 'signsIn'>,
  endpointURL: string,
): string {
  const identity = signsIn ? readIdentity(basePath) : { initialHeaders: HEADERS };
  const endpoints = {
    endpointURL,
    subscriptionsEndpoint: endpointURL.replace(/^http/, 'ws'),
    initialSubscriptionRequestHandlerId: 'graphql-ws' as const,
  };
  const page = renderAltair({
    baseURL: `${basePath}/explorer/`,
    ...endpoints,
    initialWindows: FIRST_TABS.map((tab) => ({ ...tab, ...endpoints, ...identity })),
    ...identity,
    // No advertisement, and nothing that asks elsewhere for news.
    initialSettings: QUIET,
    persistedSettings: QUIET,
    instanceStorageNamespace: 'kiln_',
    disableAccount: true,
  });
  const bar = houseBar('Explorer', { href: `${basePath}/console/`, label: 'Console' });
  return page
    .replace(/<title>.*?<\/title>/, '<title>Explorer · Kiln</title>')
    .replace('</head>', () => `<style>${STYLE}</style></head>`)
    .replace('<body>', () => `<body>${bar}`);
}

/** What a tab sends to be somebody: a script that finds a token, and where it is put. */
function readIdentity(basePath: string) {
  const Authorization = 'Bearer {{token}}';
  return {
    initialHeaders: { ...HEADERS, Authorization },
    initialSubscriptionsPayload: { Authorization },
    initialPreRequestScript: signInScript(basePath),
  };
}

/** The address of /graphql by the one that the browser used: Altair sends nothing to a relative one. */
function graphqlAddress(
  { headers }: Request,
  { basePath, isSecure }: { readonly basePath: string; readonly isSecure: boolean },
): string {
  const host = headers.host ?? '';
  // The header is put into a script: only a host and a port are allowed.
  const safeHost = /^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i.test(host) ? host : 'localhost';
  return `${isSecure ? 'https' : 'http'}://${safeHost}${basePath}/graphql`;
}
