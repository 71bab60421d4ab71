import { render, screen } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { Button, buttonLook } from './button.tsx';
import { Segments } from './choices.tsx';
import { Check, Chip, Chips, Field, Help, helpLook, Input, Label, Select, TextArea } from './inputs.tsx';
import { Figures, Row, Small } from './lines.tsx';
import {
  Card,
  CardHead,
  Note,
  noteLook,
  Page,
  PageTop,
  SandboxTag,
  Skeleton,
  Tag,
  tagLook,
} from './panels.tsx';
import { ActionsHead, FiguresCell, FiguresHead, TableFrame } from './table.tsx';

afterEach(() => document.body.replaceChildren());

const KINDS = [undefined, 'plain', 'primary', 'ghost', 'bad', 'ghost-bad'] as const;
const SIZES = [undefined, 'normal', 'small', 'large'] as const;

it('a button looks like what it is for, and says what its icon stands for', async () => {
  render(
    <>
      {KINDS.map((kind) => (
        <Button key={kind} kind={kind}>
          {kind}
        </Button>
      ))}
      {SIZES.flatMap((size) =>
        [{}, { icon: true }, { wraps: true }].map((more) => (
          <Button key={`${size} ${Object.keys(more).join()}`} size={size} {...more}>
            {size}
          </Button>
        )),
      )}
      <Button label="Copy" className="ml-auto" type="submit" />
      <a className={buttonLook()} href="/">
        a link
      </a>
    </>,
  );
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/buttons.txt');
});

it('one of a few is chosen', async () => {
  const onChoose = vi.fn<(one: string) => void>();
  const choice = { label: 'Size', values: ['small', 'large'], value: 'large', onChoose };
  render(
    <>
      <Segments {...choice} toText={(one) => `the ${one}`} />
      <Segments {...choice} toText={(one) => one} className="ml-auto" />
    </>,
  );
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/segments.txt');
  screen.getByText('the small').click();
  expect(onChoose).toHaveBeenCalledExactlyOnceWith('small');
});

it('fields have a name, a control and what helps with them', async () => {
  render(
    <>
      <Field>
        <Label htmlFor="a">Name</Label>
        <Input id="a" defaultValue="Ada" />
        <Help>words</Help>
        <Help bad>wrong</Help>
        <p className={helpLook()}>{helpLook() === helpLook(false) ? 'faint' : 'bad'}</p>
      </Field>
      <Field className="ml-auto">
        <Label className="ml-auto" />
        <Input width="w-auto" className="pl-8" />
        <Help className="ml-auto" />
      </Field>
      <Select
        options={[
          ['a', 'A'],
          [2, 'Two'],
        ]}
        defaultValue="2"
      />
      <Select empty="None" width="w-auto" className="pl-8">
        <option>more</option>
      </Select>
      <TextArea />
      <TextArea short className="font-mono" />
      <Check />
      <Check defaultChecked className="ml-auto" />
      <Chips>
        <Chip>off</Chip>
        <Chip on>on</Chip>
        <Chip className="ml-auto" />
      </Chips>
      <Chips className="ml-auto" />
    </>,
  );
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/fields.txt');
});

it('lines, panels and tables are laid out', async () => {
  render(
    <>
      <Row>row</Row>
      <Row as="span" wrap className="ml-auto" />
      <Small>small</Small>
      <Small as="p" className="ml-auto" />
      <Figures>1</Figures>
      {(['text', 'muted', 'faint'] as const).map((tone) => (
        <Figures key={tone} tone={tone} small as="p" className="ml-auto" />
      ))}
      <PageTop />
      <PageTop className="a" />
      <Page />
      <Page className="a" />
      <Card />
      <Card className="a">
        <CardHead title="Title">more</CardHead>
        <CardHead className="a" />
      </Card>
      <Note>plain</Note>
      {(['plain', 'warn', 'bad'] as const).map((tone) => (
        <Note key={tone} tone={tone} className="a" />
      ))}
      <ul className={noteLook()} />
      <Tag>tag</Tag>
      <Tag className="a" />
      <span className={tagLook()} />
      <span className={tagLook(true)} />
      <SandboxTag />
      <Skeleton />
      <Skeleton className="h-80" />
      <TableFrame label="Keys" />
      <TableFrame label="Keys" className="a" aria-busy />
      <table>
        <thead>
          <tr>
            <FiguresHead>a</FiguresHead>
            <FiguresHead wide className="a" />
            <ActionsHead />
          </tr>
        </thead>
        <tbody>
          <tr>
            <FiguresCell>a</FiguresCell>
            <FiguresCell wide className="a" />
          </tr>
        </tbody>
      </table>
    </>,
  );
  await expect(outline(document.body)).toMatchFileSnapshot('outlines/panels.txt');
});
