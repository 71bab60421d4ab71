import './styles/index.css';
import './shell/theme.ts';
import { ApolloProvider } from '@apollo/client/react';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';

import { client } from './api/client.ts';
import { beginSession } from './api/session.ts';
import { prepareCaller } from './api/shared-queries.ts';
import { warmTimes } from './parts/time.tsx';
import { createConsoleRouter } from './router.tsx';
import { noteSignInProblem } from './shell/sign-in-problem.ts';
import { loadLaterTexts, loadTexts, warmFormats } from './text/text.ts';

const nextTurn = () => new Promise((resolve) => setTimeout(resolve));
const element = document.getElementById('root');
if (element === null) throw new Error('the page has no root');
const begun = Promise.all([beginSession(), loadTexts()]);
// Each in a turn of the event loop of its own, while those load: code that runs for long keeps the browser from everything else.
await nextTurn();
const router = createConsoleRouter();
await nextTurn();
warmFormats();
await nextTurn();
warmTimes();
// Before the first question, so that it is asked by whom this browser belongs to.
const [problem] = await begun;
noteSignInProblem(problem);
await nextTurn();
const askCaller = prepareCaller(client);
await nextTurn();
askCaller();
await nextTurn();
createRoot(element).render(
  <CSPProvider disableStyleElements>
    <ApolloProvider client={client}>
      <RouterProvider router={router} />
    </ApolloProvider>
  </CSPProvider>,
);
// So that they are there when the next page is opened; one that needs them tries again.
loadLaterTexts().catch(() => undefined);
