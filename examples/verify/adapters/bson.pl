# Lets examples/verify judge the ids of Perl's BSON.
use strict;
use warnings;
use BSON::Types qw(bson_oid);

sub ids { my $n = shift; print bson_oid()->hex, "\n" while $n-- > 0; STDOUT->flush }

sub answer {
    my $id = eval { bson_oid(shift) };
    return $id ? $id->hex . " " . $id->get_time : "refused";
}

my $n = $ENV{OID_VERIFY_IDS};
if ( $ENV{OID_VERIFY} eq "decode" ) {
    while ( my $line = <STDIN> ) { chomp $line; print answer($line), "\n" }
    exit;
}
ids($n);
if ( $ENV{OID_VERIFY} eq "resume" ) { <STDIN>; ids($n) }
if ( $ENV{OID_VERIFY} eq "fork" ) {
    for ( 1 .. 2 ) {
        if ( !fork ) { print "child\n"; ids($n); exit }
        wait;
    }
    print "parent\n";
    ids($n);
}
