import { dateTimeScalar, jsonScalar } from '../../../platform/graphql/schema/scalars.ts';
import { builder } from './builder.ts';

builder.scalarType('DateTime', dateTimeScalar);
builder.scalarType('JSON', jsonScalar);
