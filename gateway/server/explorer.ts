import { getDistDirectory, isSandboxFrame, renderAltair, SANDBOX_FRAME_CSP } from 'altair-static';
import { type Request, Router, static as serveStatic } from 'express';

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

/** The first tabs: a task from its start to its result. */
const FIRST_TABS = [
  {
    initialName: 'createTask',
    initialQuery: `# Starts a task. Copy its id into the variables of the next tab.
mutation CreateTask {
  createTask(taskType: "tea", prompt: "a lighthouse at dawn", aspectRatio: "9:16") {
    id
    state
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
    initialName: 'tasks',
    initialQuery: `# Your own tasks. They need an identity: put "Authorization": "Bearer ..." into the headers,
# with a service key (the development server prints one at its first start) or an access token.
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
] as const;

const QUIET = {
  'banners.disable': true,
  disablePushNotification: true,
  'alert.disableUpdateNotification': true,
};

/** Uploads need a header that no other site can send. */
const initialHeaders = { 'Apollo-Require-Preflight': 'true' };

/** Where the explorer is mounted. */
export interface ExplorerOptions {
  /** Path prefix of PUBLIC_URL, without a slash at its end: `` or `/kiln`. */
  readonly basePath: string;
  /** Addresses or CIDRs whose X-Forwarded-Proto is trusted. */
  readonly trustProxy: readonly string[];
}

/** Makes the router to mount at `/explorer`. */
export function createExplorer({ basePath, trustProxy }: ExplorerOptions): Router {
  const isTrusted = createTrust(trustProxy);
  const router = Router();
  router.use((request, response, next) => {
    response.setHeader('Content-Security-Policy', CONTENT_SECURITY_POLICY);
    if (isSandboxFrame(request.path)) response.setHeader('Content-Security-Policy', SANDBOX_FRAME_CSP);
    next();
  });
  router.get(['/', '/index.html'], (request, response) => {
    const isSecure =
      request.protocol === 'https' || (isTrusted(peerOf(request)) && isForwardedHttps(request));
    response.type('html').send(renderPage(basePath, socketUrl(request, { basePath, isSecure })));
  });
  router.use(serveStatic(getDistDirectory(), { index: false, maxAge: '1h' }));
  return router;
}

function peerOf({ socket }: Request): string {
  return socket.remoteAddress ?? '';
}

/** Whether the browser used https, as the proxies say. */
function isForwardedHttps({ headers }: Request): boolean {
  return /^\s*https\s*(,|$)/i.test(String(headers['x-forwarded-proto']));
}

function renderPage(basePath: string, subscriptionsEndpoint: string): string {
  const endpoints = {
    endpointURL: `${basePath}/graphql`,
    subscriptionsEndpoint,
    initialSubscriptionRequestHandlerId: 'graphql-ws' as const,
  };
  return renderAltair({
    baseURL: `${basePath}/explorer/`,
    ...endpoints,
    initialWindows: FIRST_TABS.map((tab) => ({ ...tab, ...endpoints, initialHeaders })),
    initialHeaders,
    // No advertisement, and nothing that asks elsewhere for news.
    initialSettings: QUIET,
    persistedSettings: QUIET,
    instanceStorageNamespace: 'kiln_',
    disableAccount: true,
  });
}

/** The WebSocket URL by the address that the browser used; it has no relative form everywhere. */
function socketUrl(
  { headers }: Request,
  { basePath, isSecure }: { readonly basePath: string; readonly isSecure: boolean },
): string {
  const host = headers.host ?? '';
  // The header is put into a script: only a host and a port are allowed.
  const safeHost = /^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i.test(host) ? host : 'localhost';
  return `${isSecure ? 'wss' : 'ws'}://${safeHost}${basePath}/graphql`;
}
