import { useQuery } from '@apollo/client/react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';

import { serverUrl } from '../../api/addresses.ts';
import { useIsSignedIn, useCaller } from '../../api/caller.ts';
import type { UsageDimension } from '../../api/documents/operations.ts';
import { UsageDocument } from '../../api/documents/usage.ts';
import { Refusal } from '../../api/refusal.ts';
import { freshAuthorization } from '../../api/session.ts';
import { Icon } from '../../parts/icons.tsx';
import { Button, buttonLook } from '../../parts/looks/button.tsx';
import { Segments } from '../../parts/looks/choices.tsx';
import { Select } from '../../parts/looks/inputs.tsx';
import { Row, Small } from '../../parts/looks/lines.tsx';
import { Card, CardHead, figureLook, Page, PageTop, Skeleton } from '../../parts/looks/panels.tsx';
import { moneyText } from '../../parts/money.ts';
import { PageHeading } from '../../parts/page/page-heading.tsx';
import { SignInButton, Empty, Problem } from '../../parts/problem.tsx';
import { saveAs } from '../../parts/save-as.ts';
import { language, t } from '../../text/text.ts';
import { Budgets } from './budgets.tsx';
import { Chart } from './chart.tsx';
import { SumsTable } from './sums-table.tsx';
import { GROUPS, type Row as UsageRow, type Sum, addRows, sumsBy } from './sums.ts';

const SPANS = [7, 30, 90] as const;
/** Below it counts say more than costs. */
const CENT = 0.01;
const DAY_MS = 86_400_000;

/** What was used and what it cost: the caller's own, everybody's for administrators. */
export function UsagePage() {
  const isSignedIn = useIsSignedIn();
  return (
    <>
      <PageTop>
        <PageHeading>{t('page.usage')}</PageHeading>
        {isSignedIn && <Choices />}
      </PageTop>
      <Page>
        {isSignedIn ? (
          <Usage />
        ) : (
          <Empty title={t('signIn.needed')} text={t('signIn.text')}>
            <SignInButton className={buttonLook({ kind: 'primary' })} />
          </Empty>
        )}
      </Page>
    </>
  );
}

function Choices() {
  const { days = 30, only } = useSearch({ from: '/usage' });
  const navigate = useNavigate({ from: '/usage' });
  const [failure, setFailure] = useState<unknown>(null);
  const save = () => void saveTable(days, only).then(() => setFailure(null), setFailure);
  return (
    <Row as="span" wrap className="ml-auto">
      {failure !== null && <Problem error={failure} />}
      <Select
        width="w-auto"
        aria-label={t('usage.what')}
        value={only ?? ''}
        onChange={({ target }) =>
          void navigate({
            search: ({ only: _only, ...rest }) =>
              target.value === 'real' || target.value === 'sandbox' ? { ...rest, only: target.value } : rest,
          })
        }
        options={[
          ['', t('usage.both')],
          ['real', t('usage.real')],
          ['sandbox', t('usage.sandbox')],
        ]}
      />
      <Select
        width="w-auto"
        aria-label={t('usage.days')}
        value={days}
        onChange={({ target }) =>
          void navigate({ search: (before) => ({ ...before, days: Number(target.value) }) })
        }
        options={SPANS.map((count) => [count, t('usage.lastDays', { count })])}
      />
      <Button onClick={save}>
        <Icon name="download" size={14} />
        {t('usage.csv')}
      </Button>
    </Row>
  );
}

function Usage() {
  const { days: count = 30, only, by: group = 'MODEL' } = useSearch({ from: '/usage' });
  const navigate = useNavigate({ from: '/usage' });
  const caller = useCaller();
  const seesAll = caller?.mayAdministrate === true;
  const days = daysBack(count);
  const from = `${days[0]}T00:00:00Z`;
  const real = useRows({ by: ['DAY', group], from, sandbox: false, skip: only === 'sandbox' });
  const played = useRows({ by: ['DAY', group], from, sandbox: true, skip: only === 'real' });
  const before = useSpentBefore(count);
  const error = real.error ?? played.error;
  const rows = [...(real.rows ?? []), ...(played.rows ?? [])];
  const isThere = real.rows !== undefined && played.rows !== undefined;
  // The page comes as a whole: its parts would push each other down.
  if (before === undefined || ((caller === undefined || !isThere) && error === undefined))
    return <Skeleton className="h-80" aria-busy="true" />;
  const total = addRows(null, rows);
  const isUnused = isThere && rows.length === 0;
  const isMoney = (total.cost.amount ?? 0) >= CENT;
  const weigh = (sum: Sum) => (isMoney ? (sum.cost.amount ?? 0) : sum.done);
  const sums = sumsBy(rows, group, weigh);
  return (
    <>
      {error !== undefined && <Problem error={error} />}
      <Totals total={total} isUnused={isUnused} days={count} before={before} />
      <Card>
        <CardHead title={t(isMoney ? 'usage.costPerDay' : 'usage.perDay')}>
          <Segments
            className="ml-auto"
            label={t('usage.by')}
            values={GROUPS.filter((one) => seesAll || (one !== 'OWNER' && one !== 'KEY'))}
            value={group}
            toText={(one) => t(`usage.${one}`)}
            onChoose={(one) => void navigate({ search: (before) => ({ ...before, by: one }) })}
          />
        </CardHead>
        {isUnused ? (
          <Empty title={t('usage.none')} text={t('usage.noneText')} />
        ) : (
          <Chart rows={rows} days={days} group={group} sums={sums} weigh={weigh} isMoney={isMoney} />
        )}
      </Card>
      <div className="grid grid-cols-[minmax(0,1fr)_360px] items-start gap-6 max-lg:grid-cols-[minmax(0,1fr)]">
        {!isUnused && <SumsTable sums={sums} total={total} group={group} weigh={weigh} />}
        <Budgets seesAll={seesAll} />
      </div>
    </>
  );
}

interface RowsOptions {
  readonly by: readonly UsageDimension[];
  readonly from: string;
  readonly sandbox: boolean;
  readonly skip: boolean;
}

/** Usage of one sort of work; those of before until the answer to another question has come. */
function useRows({ by, from, sandbox, skip }: RowsOptions) {
  const { data, previousData, error } = useQuery(UsageDocument, {
    variables: { by, from, sandbox },
    skip,
    fetchPolicy: 'cache-and-network',
  });
  const usage = skip ? [] : (data ?? previousData)?.usage;
  return { rows: usage?.map((row): UsageRow => ({ ...row, sandbox })), error };
}

interface TotalsProps {
  readonly total: Sum;
  readonly isUnused: boolean;
  readonly days: number;
  /** What as many days before have cost; null where that is not known. */
  readonly before: string | null;
}

/** What as many days before those that are shown have cost; undefined until it was asked for. */
function useSpentBefore(days: number): string | null | undefined {
  const [from] = daysBack(days * 2);
  const [to] = daysBack(days);
  const { data, previousData, error } = useQuery(UsageDocument, {
    variables: { by: ['DAY'], from: `${from}T00:00:00Z`, to: `${to}T00:00:00Z`, sandbox: false },
  });
  const { usage } = data ?? previousData ?? {};
  if (usage === undefined) return error === undefined ? undefined : null;
  const { cost } = addRows(
    null,
    usage.map((row) => ({ ...row, sandbox: false })),
  );
  return cost.amount === null || cost.currency === null ? null : moneyText(cost);
}

const NUMBER = 'text-28 font-semibold tracking-[-0.02em] tabular-nums max-sm:text-20';

function Totals({ total, isUnused, days, before }: TotalsProps) {
  const number = (value: number) => value.toLocaleString(language, { notation: 'compact' });
  return (
    <Card className="grid grid-cols-4 max-sm:grid-cols-2">
      <p className={figureLook}>
        <span className="text-muted">{t('usage.spent')}</span>
        <b className={NUMBER}>{isUnused ? '–' : moneyText(total.cost)}</b>
        <Small>
          {(total.wouldCost.amount ?? 0) > 0 && (
            <span className="block">{t('usage.wouldCost', { amount: moneyText(total.wouldCost) })}</span>
          )}
          {before !== null && (
            <span className="block">{t('usage.before', { amount: before, count: days })}</span>
          )}
          {total.unpriced > 0 && t('usage.unpriced', { count: total.unpriced })}
        </Small>
      </p>
      <p className={figureLook}>
        <span className="text-muted">{t('usage.tasks')}</span>
        <b className={NUMBER}>{(total.done + total.failed + total.cancelled).toLocaleString(language)}</b>
        <Small>{t('usage.failed', { count: total.failed, cancelled: total.cancelled })}</Small>
      </p>
      <p className={figureLook}>
        <span className="text-muted">{t('usage.seconds')}</span>
        <b className={NUMBER}>{t('time.seconds', { seconds: number(total.seconds) })}</b>
        <Small>{t('usage.pictures', { count: number(total.pictures) })}</Small>
      </p>
      <p className={figureLook}>
        <span className="text-muted">{t('usage.tokens')}</span>
        <b className={NUMBER}>{number(total.inputTokens + total.outputTokens)}</b>
        <Small>
          {t('usage.inOut', { input: number(total.inputTokens), output: number(total.outputTokens) })}
        </Small>
      </p>
    </Card>
  );
}

function daysBack(count: number): readonly string[] {
  const today = Date.now();
  return Array.from({ length: count }, (_, index) =>
    new Date(today - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
}

function toSandboxFilter(only: 'real' | 'sandbox' | undefined): boolean | null {
  return only === undefined ? null : only === 'sandbox';
}

/** The same as a table. A link can not carry the credential, which is in memory alone. */
async function saveTable(days: number, only: 'real' | 'sandbox' | undefined): Promise<void> {
  const address = new URL('usage.csv', serverUrl);
  address.searchParams.set('by', 'day,model,generator,owner');
  address.searchParams.set('from', daysBack(days)[0] ?? '');
  const sandbox = toSandboxFilter(only);
  if (sandbox !== null) address.searchParams.set('sandbox', String(sandbox));
  const authorization = await freshAuthorization();
  const response = await fetch(address, { headers: authorization === null ? {} : { authorization } });
  if (!response.ok) throw new Refusal(`${response.status}: ${(await response.text()).slice(0, 200)}`);
  saveAs(await response.blob(), 'usage.csv');
}
