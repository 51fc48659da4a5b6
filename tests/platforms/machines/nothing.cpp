// SPDX-License-Identifier: LGPL-2.1-or-later
// For what is named as SimGrid is, and is not it; and for a platform that is not linked with any.
extern "C" void nothing();
extern "C" void nothing()
{
}
