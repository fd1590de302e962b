@0xbf5147cbbecf40c1;
enum Colour { red @0; green @1; blue @2; }
struct Vec { x @0 :Float32; y @1 :Float64 = 2.5; }
struct Root {
  b @0 :Bool = true; i8 @1 :Int8 = -3; i16 @2 :Int16; i32 @3 :Int32 = -5; i64 @4 :Int64; u8 @5 :UInt8 = 3; u16 @6 :UInt16; u32 @7 :UInt32; u64 @8 :UInt64 = 7;
  f @9 :Float32 = 1.5; d @10 :Float64; s @11 :Text; raw @12 :Data; c @13 :Colour = blue; v @14 :Vec; names @15 :List(Text); vs @16 :List(Vec);
  ints @17 :List(Int32); bools @18 :List(Bool); bytes @19 :List(UInt8); doubles @20 :List(Float64); colours @21 :List(Colour); deep @22 :List(List(Int16));
  nothing @23 :Void;
  union { one @24 :Int32; two @25 :Text; three :group { x @26 :Int32; y @27 :Text; } none @28 :Void; }
  place :group { lat @29 :Float64; lon @30 :Float64; kind :union { sea @31 :Void; land @32 :UInt8; } }
  self @33 :Root; voids @34 :List(Void); raws @35 :List(Data); b2 @36 :Bool; longs @37 :List(UInt64);
}
struct Outer { struct Inner { n @0 :Int32; } inner @0 :Inner; any @1 :AnyPointer; }
