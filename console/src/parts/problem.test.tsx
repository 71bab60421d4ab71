import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { KilnError } from '@kiln/client';
import { fireEvent, screen } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { Refusal } from '../api/refusal.ts';
import { outline } from '../testing/outline.ts';
import { renderOverServer } from '../testing/over-server.tsx';
import { closeConsole, openConsole } from '../testing/whole-console.tsx';
import { t } from '../text/text.ts';
import { AdministratorsOnly } from './administrators-only.tsx';
import { codeText, Empty, NotFound, Problem, problemText, ServerWords, SignInButton } from './problem.tsx';

afterEach(closeConsole);

const refused = (...codes: readonly (string | undefined)[]) =>
  new CombinedGraphQLErrors({
    data: null,
    errors: codes.map((code) => ({
      message: `no: ${code}`,
      extensions: code === undefined ? {} : { code },
    })),
  });
const words = (code: string) => codeText(code);
const unreachable = t('problem.unreachable');

it.each([
  ['a lost network', new TypeError('Failed to fetch'), unreachable],
  ['a page that is not loaded', new TypeError('error loading dynamically IMPORTed module'), unreachable],
  ['a fault of this page', new TypeError('x is not a function'), t('problem.page')],
  ['a Kiln that is away', new KilnError('UNREACHABLE', 'away'), unreachable],
  ['a refusal of the client', new KilnError('FORBIDDEN', 'not yours'), words('FORBIDDEN')],
  ['a refusal without a code', new Refusal('not yours'), t('problem.refused')],
  ['a refusal of the server', refused('FORBIDDEN'), words('FORBIDDEN')],
  ['two alike', refused('FORBIDDEN', 'FORBIDDEN'), words('FORBIDDEN')],
  ['two others', refused('FORBIDDEN', 'NOT_FOUND'), `${words('FORBIDDEN')} ${words('NOT_FOUND')}`],
  ['one without a code', refused(undefined), t('problem.refused')],
  ['any other error', new Error('of its own'), 'of its own'],
  ['what is no error', 'of its own', 'of its own'],
  [
    'a wrong input',
    refused('BAD_USER_INPUT'),
    t('problem.because', { words: words('BAD_USER_INPUT'), detail: 'no: BAD_USER_INPUT' }),
  ],
])('a failure is told in words: %s', (_, error, said) => {
  expect(problemText(error)).toBe(said);
});

it('a code has its words, of tasks or of requests, or is told itself', () => {
  expect(codeText('TIMED_OUT')).not.toBe('TIMED_OUT');
  expect(codeText('FORBIDDEN')).not.toBe('FORBIDDEN');
  expect(codeText('OF_ITS_OWN')).toBe('OF_ITS_OWN');
});

it('a failure is shown with its details and its remedy', async () => {
  renderOverServer(
    {},
    <>
      <Problem error={new Error('of its own')} />
      <Problem error={new TypeError('x is not a function')} />
      <Problem error={refused('UNAUTHENTICATED')} />
      <Problem error={refused('BUDGET_EXCEEDED')} />
      <Problem error={refused('BAD_USER_INPUT', 'FORBIDDEN')}>a way on</Problem>
      <Problem error={new Refusal('')} />
      <Empty title="None" />
      <Empty title="None" text="words">
        a way on
      </Empty>
      <ServerWords text="words" />
      <NotFound />
      <NotFound text="gone" />
    </>,
  );
  await screen.findByText('gone');
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/problems.txt');
});

it('whoever must sign in goes there, and comes back here', async () => {
  const assign = vi.spyOn(location, 'assign').mockReturnValue();
  renderOverServer({}, <SignInButton className="a" />);
  fireEvent.click(await screen.findByText(t('signIn.signIn')));
  await vi.waitFor(() => expect(assign).toHaveBeenCalledOnce());
  assign.mockRestore();
});

it.each([
  ['ANONYMOUS', t('signIn.administratorsVisitor'), t('signIn.signIn')],
  ['USER', t('signIn.administratorsText'), t('page.studio')],
])('administrators have a page for themselves: %s', async (kind, text, way) => {
  const caller = {
    __typename: 'Caller',
    id: 'x',
    kind,
    mayStart: true,
    mayRunUnpaid: true,
    mayAdministrate: false,
    mayIssueKeys: false,
  };
  renderOverServer({ Caller: () => ({ caller, viewer: null }) }, <AdministratorsOnly />);
  expect(await screen.findByText(text)).toBeDefined();
  expect(screen.getByText(way)).toBeDefined();
  await expect(outline(document.body)).toMatchFileSnapshot(`outlines/administrators-only-${kind}.txt`);
});

it('an address that leads to nothing says so', async () => {
  await openConsole('/nothing/here', {});
  expect(await screen.findByText(t('shell.notFound'))).toBeDefined();
});
