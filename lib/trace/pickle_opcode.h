/* pickle_opcode.h - the instructions of Python's pickles: those that pickle.c carries out, and the names of
 * all, as Python's pickletools has them. */
#ifndef SYNCGUARD_TRACE_PICKLE_OPCODE_H
#define SYNCGUARD_TRACE_PICKLE_OPCODE_H

enum pickle_opcode {
    PICKLE_MARK = '(',
    PICKLE_STOP = '.',
    PICKLE_POP = '0',
    PICKLE_POP_MARK = '1',
    PICKLE_DUP = '2',
    PICKLE_FLOAT = 'F',
    PICKLE_INT = 'I',
    PICKLE_BININT = 'J',
    PICKLE_BININT1 = 'K',
    PICKLE_LONG = 'L',
    PICKLE_BININT2 = 'M',
    PICKLE_NONE = 'N',
    PICKLE_STRING = 'S',
    PICKLE_BINSTRING = 'T',
    PICKLE_SHORT_BINSTRING = 'U',
    PICKLE_UNICODE = 'V',
    PICKLE_BINUNICODE = 'X',
    PICKLE_APPEND = 'a',
    PICKLE_DICT = 'd',
    PICKLE_EMPTY_DICT = '}',
    PICKLE_APPENDS = 'e',
    PICKLE_GET = 'g',
    PICKLE_BINGET = 'h',
    PICKLE_LONG_BINGET = 'j',
    PICKLE_LIST = 'l',
    PICKLE_EMPTY_LIST = ']',
    PICKLE_PUT = 'p',
    PICKLE_BINPUT = 'q',
    PICKLE_LONG_BINPUT = 'r',
    PICKLE_SETITEM = 's',
    PICKLE_TUPLE = 't',
    PICKLE_EMPTY_TUPLE = ')',
    PICKLE_SETITEMS = 'u',
    PICKLE_BINFLOAT = 'G',
    PICKLE_PROTO = 0x80,
    PICKLE_TUPLE1 = 0x85,
    PICKLE_TUPLE2 = 0x86,
    PICKLE_TUPLE3 = 0x87,
    PICKLE_NEWTRUE = 0x88,
    PICKLE_NEWFALSE = 0x89,
    PICKLE_LONG1 = 0x8a,
    PICKLE_LONG4 = 0x8b,
    PICKLE_BINBYTES = 'B',
    PICKLE_SHORT_BINBYTES = 'C',
    PICKLE_SHORT_BINUNICODE = 0x8c,
    PICKLE_BINUNICODE8 = 0x8d,
    PICKLE_BINBYTES8 = 0x8e,
    PICKLE_EMPTY_SET = 0x8f,
    PICKLE_ADDITEMS = 0x90,
    PICKLE_FROZENSET = 0x91,
    PICKLE_MEMOIZE = 0x94,
    PICKLE_FRAME = 0x95,
    PICKLE_BYTEARRAY8 = 0x96
};

/* NULL: there is none of this code. */
const char *pickle_opcode_name(unsigned char code);

#endif
