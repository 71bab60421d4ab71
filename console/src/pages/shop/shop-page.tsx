import { useQuery } from '@apollo/client/react';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';

import { useCaller } from '../../api/caller.ts';
import { ShopDocument } from '../../api/documents/shop.ts';
import {
  isFree,
  findBuyer,
  forgetCheckout,
  leftCheckout,
  priceText,
  type Template,
  useParameters,
  useOrder,
} from '../../library/order.ts';
import { TemplateFields } from '../../library/template-fields.tsx';
import { AdministratorsOnly } from '../../parts/administrators-only.tsx';
import { Button, buttonLook } from '../../parts/looks/button.tsx';
import { Segments } from '../../parts/looks/choices.tsx';
import { Figures, Row, Small } from '../../parts/looks/lines.tsx';
import { Card, CardHead, choiceLook, Page, PageTop } from '../../parts/looks/panels.tsx';
import { PageHeading } from '../../parts/page/page-heading.tsx';
import { Empty, Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import type { Values } from '../../work/work.ts';
import { Catalog } from './catalog/catalog.tsx';
import { Executions } from './executions.tsx';
import { Payments } from './payments.tsx';

const VIEWS = ['templates', 'executions', 'payments', 'manage'] as const;

/** What is for sale, what was run and paid, and, for administrators, the catalog itself. */
export function ShopPage() {
  const { view = 'templates' } = useSearch({ from: '/shop' });
  const navigate = useNavigate({ from: '/shop' });
  const caller = useCaller();
  const mayManage = caller?.mayAdministrate === true;
  return (
    <>
      <PageTop>
        <PageHeading>{t('page.shop')}</PageHeading>
        <Segments
          className="ml-auto"
          label={t('shop.view')}
          values={VIEWS.filter((one) => one !== 'manage' || mayManage)}
          value={view}
          toText={(one) => t(`shop.view.${one}`)}
          onChoose={(one) => void navigate({ search: one === 'templates' ? {} : { view: one } })}
        />
      </PageTop>
      <Page>
        {view === 'templates' && <Cards />}
        {view === 'executions' && <Executions />}
        {view === 'payments' && <Payments />}
        {view === 'manage' && mayManage && <Catalog />}
        {view === 'manage' && caller?.mayAdministrate === false && <AdministratorsOnly />}
      </Page>
    </>
  );
}

/** What is for sale, one card each; the chosen one has its form beside them. */
function Cards() {
  const { template: chosen } = useSearch({ from: '/shop' });
  const navigate = useNavigate({ from: '/shop' });
  const { data, error } = useQuery(ShopDocument, { fetchPolicy: 'cache-and-network' });
  const templates = data?.templatesConnection.edges.map(({ node }) => node) ?? [];
  const template = templates.find(({ code }) => code === chosen);
  const choose = (code: string) =>
    void navigate({ search: code === chosen ? {} : { template: code }, replace: true });
  return (
    <>
      {error !== undefined && <Problem error={error} />}
      {data !== undefined && templates.length === 0 && <Empty title={t('shop.none')} />}
      <div className={template === undefined ? '' : 'with-aside'}>
        <ul className="grid grid-cols-[repeat(auto-fill,minmax(232px,1fr))] content-start gap-4">
          {templates.map((one) => (
            <li key={one.code}>
              <button
                type="button"
                className={`${choiceLook} items-start`}
                aria-pressed={one.code === chosen}
                onClick={() => choose(one.code)}
              >
                <span className="gap-1 flex flex-col flex-1 min-w-0">
                  <Row as="span">
                    <span className="font-medium flex-1 min-w-0">{one.name}</span>
                    <Figures>{priceText(one)}</Figures>
                  </Row>
                  <span className="text-muted">{one.description}</span>
                  <span className="text-faint text-12 font-normal">{t(`shop.${one.templateType}`)}</span>
                </span>
              </button>
            </li>
          ))}
        </ul>
        {template !== undefined && (
          <div>
            <TemplateForm key={template.code} template={template} />
          </div>
        )}
      </div>
    </>
  );
}

/** Buys a template with its own parameters, or runs it at once where the caller need not pay. */
function TemplateForm({ template }: { readonly template: Template }) {
  const caller = useCaller();
  const parameters = useParameters(template);
  const [values, setValues] = useState<Values>(() => leftValues(template.code));
  const { run, buy, error, isBusy } = useOrder(template.code);
  const card = useRef<HTMLElement>(null);
  // On a phone the form is below the cards.
  useEffect(() => {
    // In braces: browsers that answer a promise would have it taken for a clean-up.
    card.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  useEffect(forgetCheckout, []);
  const { salePrice } = template;
  const canBuy = salePrice !== null && salePrice.amount > 0 && findBuyer(caller) !== null;
  const costsNothing = isFree(template);
  const canRun = caller !== undefined && (costsNothing || caller.mayRunUnpaid);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (canBuy) buy(values);
    else run(values);
  };
  return (
    <Card ref={card}>
      <CardHead title={template.name}>
        {caller?.mayAdministrate === true && (
          <Link
            className={`${buttonLook({ size: 'small' })} ml-auto`}
            to="/shop/templates/$code"
            params={{ code: template.code }}
          >
            {t('shop.edit')}
          </Link>
        )}
      </CardHead>
      <form className="p-4 gap-3 flex flex-col min-w-0" aria-label={template.name} onSubmit={submit}>
        <TemplateFields parameters={parameters} values={values} onChange={setValues} />
        {error !== undefined && <Problem error={error} />}
        {canBuy && (
          <Button type="submit" kind="primary" size="large" className="w-full" disabled={isBusy}>
            {t('shop.buy', { price: priceText(template) })}
          </Button>
        )}
        {canBuy && <Small as="p">{t('shop.buyText')}</Small>}
        {canRun && (
          <Button
            type={canBuy ? 'button' : 'submit'}
            kind={canBuy ? 'plain' : 'primary'}
            size={canBuy ? 'normal' : 'large'}
            className="w-full"
            disabled={isBusy}
            onClick={canBuy ? () => run(values) : undefined}
          >
            {t(costsNothing ? 'shop.run' : 'shop.runUnpaid')}
          </Button>
        )}
        {!canBuy && !canRun && caller !== undefined && <p className="text-muted">{t('shop.notForSale')}</p>}
      </form>
    </Card>
  );
}

/** What the form held before its buyer went to the payment page and came back without paying. */
function leftValues(code: string): Values {
  const left = leftCheckout();
  return left?.code === code ? left.values : {};
}
