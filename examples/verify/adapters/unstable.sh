#!/bin/sh
# Runs a program of Debian's unstable distribution on another Debian: unstable.sh PROGRAM
# [ARGUMENT]... The folder UNSTABLE has the packages, which this puts there:
#
#	mmdebstrap --variant=extract --include=libbson-dev,php-cli,php-mongodb,ruby-bson unstable "$UNSTABLE"
#
# The program uses the libraries of that folder. PROGRAM is php, ruby or the path of a
# program that was linked with them.
set -eu
libraries=$(echo "$UNSTABLE"/usr/lib/*-linux-gnu)
program=$1
shift
case $program in
php)
	program=$(echo "$UNSTABLE"/usr/bin/php[0-9]*)
	set -- -n -d extension_dir="$(echo "$UNSTABLE"/usr/lib/php/2*)" -d extension=mongodb "$@"
	;;
ruby)
	program=$(echo "$UNSTABLE"/usr/bin/ruby[0-9]*)
	gem=$libraries/rubygems-integration
	RUBYLIB=$(echo "$UNSTABLE"/usr/lib/ruby/[0-9]* "$libraries"/ruby/[0-9]* "$gem"/*/gems/bson-*/lib "$gem"/*/extensions/*/*/bson-* | tr ' ' :)
	export RUBYLIB
	set -- --disable-gems "$@"
	;;
esac
exec "$UNSTABLE"/usr/lib*/ld-linux* --library-path "$libraries" "$program" "$@"
